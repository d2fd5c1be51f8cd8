// Puts a step's file together: head, loops, windows, tensors, operations, entry points.
#include "codegen/cpp/EmitStepCpp.h"

#include "codegen/cpp/StepOps.h"
#include "codegen/cpp/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace syncline::codegen;

namespace syncline {

namespace {

/// Statements in functions short enough to read and to compile quickly.
struct Section {
  std::string name;
  std::vector<std::string> statements;
};

constexpr size_t statementsPerFunction = 60;

constexpr llvm::StringLiteral loopPrelude = R"(
// Each loop is compiled for several vector widths; the widest that the processor has is taken.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) static
#else
#define CLONES static
#endif

using Loop = void (*)(void *const *outs, const void *const *ins, std::int64_t first,
                      std::int64_t last);

// Splits [0, n) over the compute threads; elements are independent, so results do not depend on it.
template <Loop loop>
void split(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  constexpr std::int64_t line = 64, worthwhile = 1 << 15;
#pragma omp parallel if (n >= worthwhile)
  {
    const std::int64_t lines = (n + line - 1) / line;
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    loop(outs, ins, std::min(n, lines * thread / threads * line),
         std::min(n, lines * (thread + 1) / threads * line));
  }
}

// The same for dense operands of which some broadcast: the loop walks rows of so many elements.
template <std::int64_t rows, std::int64_t perRow, Loop loop>
void splitRows(void *const *outs, const void *const *ins, std::int64_t, void *) {
  constexpr std::int64_t worthwhile = 1 << 15;
#pragma omp parallel if (rows * perRow >= worthwhile)
  {
    const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
    loop(outs, ins, rows * thread / threads, rows * (thread + 1) / threads);
  }
}
)";

constexpr llvm::StringLiteral extremaPrelude = R"(
// Not-a-number in gives not-a-number out, unlike std::max and std::fmax.
template <typename T> inline T maximum(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> inline T minimum(T a, T b) { return a < b || a != a ? a : b; }
)";

constexpr llvm::StringLiteral buildPrelude = R"(
// From here on everything runs once, before the first step: what counts is how fast it compiles.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif

// Tensors; d_ is the gradient of a parameter.
)";

constexpr llvm::StringLiteral declarePrelude = R"(
Tensor declare(StepBuilder &step, std::string_view name, Space space, ElementType type,
               std::initializer_list<std::int64_t> shape, std::int64_t offset,
               std::int64_t reserved) {
  return step.tensor({.name = name, .space = space, .type = type, .shape = shape,
                      .offset = offset, .reserved = reserved});
}
)";

class Emitter {
public:
  Emitter(plan::ProgramOp program, const StepCppHeader &header)
      : program(program), header(header), kernels(names), windows(names),
        ops(names, kernels, windows) {
    for (StringRef used : {"declare",
                           "split",
                           "splitRows",
                           "maximum",
                           "minimum",
                           "Loop",
                           "CLONES",
                           "syncline",
                           "synclineBuildStep",
                           "synclineStepAbi",
                           "synclineStepBackend",
                           "forward",
                           "backward",
                           "update",
                           "Tensor",
                           "StepBuilder",
                           "Space",
                           "Shape",
                           "Window",
                           "ElementType",
                           "Activation",
                           "Reduction",
                           "outs",
                           "ins",
                           "first",
                           "last",
                           "buckets",
                           "tensors"})
      names.reserve(used);
  }

  FailureOr<std::string> emit() {
    if (failed(collect()))
      return failure();
    std::string text = head() + loops() + windowDefinitions() + variables();
    text += functions(); // names the functions that the entry point calls
    return text + entryPoints();
  }

private:
  LogicalResult collect() {
    Section tensors{"tensors", {}}, buckets{"buckets", {}};
    std::vector<Section> phases;
    for (Operation &op : program.getBody().front()) {
      if (auto tensor = dyn_cast<plan::TensorOp>(op)) {
        tensors.statements.push_back(ops.declare(tensor));
        variableNames.push_back(StringRef(tensors.statements.back()).split(' ').first.str());
        continue;
      }
      if (auto bucket = dyn_cast<plan::BucketOp>(op)) {
        buckets.statements.push_back(ops.declare(bucket));
        continue;
      }
      if (auto phase = dyn_cast<plan::PhaseOp>(op))
        phases.push_back({plan::stringifyPhase(phase.getPhase()).str(), {}});
      if (phases.empty())
        phases.push_back({"forward", {}});
      FailureOr<std::string> statement = ops.statement(&op);
      if (failed(statement))
        return failure();
      phases.back().statements.push_back(*statement);
    }
    sections.push_back(std::move(tensors));
    sections.push_back(std::move(buckets));
    llvm::append_range(sections, phases);
    return success();
  }

  std::string head() {
    std::string text;
    text += "// Generated by Syncline " + header.version + ": one training step of plan '" +
            oneLine(program.getSymName()) + "', planner '" + oneLine(header.planner) + "'.\n";
    text +=
        "// " + std::to_string(program.getRanks()) + " ranks, " +
        std::to_string(program.getBatch()) +
        " samples each; every rank executes this. One statement is one operation of plan.mlir;\n"
        "// offsets and sizes are bytes, times seconds from the step's beginning.\n";
    text += "#include \"syncline/Step.h\"\n\n#include <algorithm>\n#include <array>\n#include "
            "<cmath>\n\n#include <omp.h>\n\nusing namespace syncline;\n\nnamespace {\n";
    return text;
  }

  std::string loops() {
    if (kernels.definitions().empty())
      return "";
    std::string text = loopPrelude.str();
    if (kernels.usesExtrema())
      text += extremaPrelude.str();
    for (const std::string &definition : kernels.definitions())
      text += "\n" + definition;
    return text;
  }

  std::string windowDefinitions() {
    if (windows.definitions().empty())
      return "";
    return "\n// Windows of convolutions and poolings: k kernel, s strides, d dilations, p "
           "padding, "
           "g groups,\n// i padding counts.\n" +
           llvm::join(windows.definitions(), "\n") + "\n";
  }

  std::string variables() {
    std::string text = buildPrelude.str(), line = "Tensor ";
    constexpr size_t width = 100;
    for (auto [i, name] : llvm::enumerate(variableNames)) {
      const bool isLast = i + 1 == variableNames.size();
      const std::string piece = name + (isLast ? ";" : ",");
      if (line.size() + piece.size() > width) {
        text += line + "\n";
        line = "   ";
      }
      line += (line.ends_with(" ") ? "" : " ") + piece;
    }
    return text + (variableNames.empty() ? "" : line + "\n") + declarePrelude.str();
  }

  std::string functions() {
    std::string text;
    llvm::StringMap<unsigned> used;
    for (const Section &section : sections)
      for (size_t begin = 0; begin < section.statements.size(); begin += statementsPerFunction) {
        const std::string name = section.name + std::to_string(++used[section.name]);
        calls.push_back(name);
        text += "\nvoid " + name + "(StepBuilder &step) {\n";
        for (const std::string &statement :
             llvm::ArrayRef(section.statements).drop_front(begin).take_front(statementsPerFunction))
          text += "  " + statement + "\n";
        text += "}\n";
      }
    return text;
  }

  std::string entryPoints() {
    std::string text =
        "\n} // namespace\n\nextern \"C\" int synclineStepAbi() { return stepAbi; }\n"
        "\nextern \"C\" const char *synclineStepBackend() { return \"cpu\"; }\n"
        "\nextern \"C\" void synclineBuildStep(StepBuilder &step) {\n";
    for (const std::string &name : calls)
      text += "  " + name + "(step);\n";
    return text + "}\n";
  }

  plan::ProgramOp program;
  const StepCppHeader &header;
  Names names;
  Kernels kernels;
  Windows windows;
  StepOps ops;
  std::vector<std::string> variableNames, calls;
  std::vector<Section> sections; ///< declarations, then phases in order
};

} // namespace

FailureOr<std::string> emitStepCpp(plan::ProgramOp program, const StepCppHeader &header) {
  return Emitter(program, header).emit();
}

} // namespace syncline
