// Reads the text of the table's rows, once.
#include "ir/plan/Kernels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

namespace syncline::plan {

using Kind = ParameterKind;

static Kind kindOf(llvm::StringRef type) {
  const auto kind = llvm::StringSwitch<std::optional<Kind>>(type)
                        .Case("In", Kind::in)
                        .Case("OptionalIn", Kind::optionalIn)
                        .Case("InList", Kind::inList)
                        .Case("Out", Kind::out)
                        .Case("OptionalOut", Kind::optionalOut)
                        .Case("SkippableOut", Kind::skippableOut)
                        .Case("const Window", Kind::window)
                        .Case("Activation", Kind::activation)
                        .Case("Reduction", Kind::reduction)
                        .Case("bool", Kind::flag)
                        .Case("std::int64_t", Kind::integer)
                        .Case("const Shape", Kind::sizes)
                        .Case("double", Kind::real)
                        .Default(std::nullopt);
  if (!kind)
    llvm::report_fatal_error("Kernels.inc has a parameter of unknown type '" + type + "'");
  return *kind;
}

static bool isIn(const Parameter &parameter) { return parameter.kind <= Kind::inList; }

static bool isOut(const Parameter &parameter) {
  return !isIn(parameter) && parameter.kind <= Kind::skippableOut;
}

/// `text` is the parameters as C++ declares them: "In x, Out y, const Window &window".
static KernelRow makeRow(Kernel kernel, std::optional<double> flops, bool isMove,
                         llvm::StringRef text) {
  KernelRow row{};
  row.kernel = kernel;
  row.operation = "nn." + llvm::convertToSnakeFromCamelCase(stringifyKernel(kernel));
  row.flops = flops;
  row.isMove = isMove;
  for (llvm::StringRef part : llvm::split(text, ", ")) {
    const llvm::StringRef declaration = part.split(" = ").first; // without a default argument
    const std::size_t end = declaration.find_last_of(" &");
    Parameter parameter{kindOf(declaration.take_front(end).rtrim(" &")),
                        declaration.drop_front(end + 1).str()};
    if (!isIn(parameter) && !isOut(parameter)) // an attribute
      parameter.name = llvm::convertToSnakeFromCamelCase(parameter.name);
    row.parameters.push_back(std::move(parameter));
  }
  llvm::copy_if(row.parameters, std::back_inserter(row.ins), isIn);
  llvm::copy_if(row.parameters, std::back_inserter(row.outs), isOut);
  for (std::vector<Parameter> *operands : {&row.ins, &row.outs})
    llvm::stable_sort(*operands, [](const Parameter &a, const Parameter &b) {
      return !a.isOptional() && b.isOptional();
    });
  return row;
}

static const std::vector<KernelRow> &rows() {
  constexpr std::nullopt_t formula = std::nullopt;
  static const std::vector<KernelRow> table{
#define SYNCLINE_KERNEL(name, flops, ...) makeRow(Kernel::name, flops, false, #__VA_ARGS__),
#define SYNCLINE_MOVE(name, ...) makeRow(Kernel::name, 0, true, #__VA_ARGS__),
#define SYNCLINE_LOOP(name, ...)
#include "syncline/Kernels.inc"
  };
  return table;
}

const KernelRow &rowOf(Kernel kernel) {
  return *llvm::find_if(rows(), [=](const KernelRow &row) { return row.kernel == kernel; });
}

const KernelRow *findRow(llvm::StringRef operation) {
  static const auto byOperation = [] {
    llvm::StringMap<const KernelRow *> map;
    for (const KernelRow &row : rows())
      map[row.operation] = &row;
    return map;
  }();
  return byOperation.lookup(operation);
}

} // namespace syncline::plan
