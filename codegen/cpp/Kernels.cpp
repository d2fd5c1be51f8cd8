// Writes flat loops and loops that walk broadcast operands.
#include "codegen/cpp/Kernels.h"

#include "codegen/cpp/Text.h"

#include "llvm/ADT/StringExtras.h"

#include <functional>

using namespace mlir;

namespace syncline::codegen {

namespace {

/// A result's dimensions with those merged that every operand walks alike.
struct LoopNest {
  llvm::SmallVector<std::int64_t> extents; ///< outermost first, at least one
  /// By operand (inputs, then results) and loop: elements between neighbours, 0 where it
  /// broadcasts.
  std::vector<llvm::SmallVector<std::int64_t>> strides;
};

/// Row-major strides of an operand in the result's dimensions.
llvm::SmallVector<std::int64_t> broadcastStrides(llvm::ArrayRef<std::int64_t> shape,
                                                 llvm::ArrayRef<std::int64_t> result) {
  llvm::SmallVector<std::int64_t> strides(result.size(), 0);
  std::int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t extent = shape[shape.size() - 1 - i];
    if (extent != 1)
      strides[result.size() - 1 - i] = stride;
    stride *= extent;
  }
  return strides;
}

LoopNest nestOf(plan::PointwiseOp loop) {
  auto shape = cast<MemRefType>(loop.getOuts()[0].getType()).getShape();
  std::vector<llvm::SmallVector<std::int64_t>> full;
  for (Value operand : loop.getOperands())
    full.push_back(broadcastStrides(cast<MemRefType>(operand.getType()).getShape(), shape));
  LoopNest nest;
  nest.strides.resize(full.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    // Loop d goes into the one outside it when every operand steps through both as through one.
    const bool merges =
        !nest.extents.empty() && llvm::all_of(llvm::seq<size_t>(0, full.size()), [&](size_t o) {
          return nest.strides[o].back() == full[o][d] * shape[d];
        });
    if (merges)
      nest.extents.back() *= shape[d];
    else
      nest.extents.push_back(shape[d]);
    for (size_t o = 0; o < full.size(); ++o)
      if (merges)
        nest.strides[o].back() = full[o][d];
      else
        nest.strides[o].push_back(full[o][d]);
  }
  if (nest.extents.empty()) { // scalars only
    nest.extents.push_back(1);
    for (auto &strides : nest.strides)
      strides.push_back(0);
  }
  return nest;
}

/// "i0 * 64 + i1"; "0" where nothing moves.
std::string indexOf(llvm::ArrayRef<std::int64_t> strides) {
  std::string text;
  for (auto [loop, stride] : llvm::enumerate(strides)) {
    if (stride == 0)
      continue;
    text += (text.empty() ? "i" : " + i") + std::to_string(loop);
    if (stride != 1)
      text += " * " + std::to_string(stride);
  }
  return text.empty() ? "0" : text;
}

/// Declares typed pointers a0, a1, .. of inputs and r0, r1, .. of results; empty on a bad type.
std::string pointers(plan::PointwiseOp loop) {
  std::string text;
  for (auto [list, isInput] :
       {std::pair(loop.getIns(), true), std::pair(OperandRange(loop.getOuts()), false)})
    for (auto [index, operand] : llvm::enumerate(list)) {
      StringRef type = cppType(cast<MemRefType>(operand.getType()).getElementType());
      if (type.empty())
        return "";
      const std::string pointer = (isInput ? "const " : "") + type.str() + " *";
      const std::string number = std::to_string(index);
      text += "  " + pointer + (isInput ? "a" : "r") + number + " = static_cast<" + pointer + ">(" +
              (isInput ? "ins[" : "outs[") + number + "]);\n";
    }
  return text;
}

/// One element: loads, the body, stores. `index` gives an operand's index.
std::string element(plan::PointwiseOp loop, const KernelBody &body, const std::string &indent,
                    const std::function<std::string(size_t)> &index) {
  std::string text;
  for (auto [number, operand] : llvm::enumerate(loop.getIns())) {
    const std::string i = std::to_string(number);
    text += indent + "const " +
            cppType(cast<MemRefType>(operand.getType()).getElementType()).str() + " x" + i +
            " = a" + i + "[" + index(number) + "];\n";
  }
  for (const std::string &statement : body.statements)
    text += indent + statement + "\n";
  for (auto [number, result] : llvm::enumerate(body.results))
    text += indent + "r" + std::to_string(number) + "[" + index(loop.getIns().size() + number) +
            "] = " + result + ";\n";
  return text;
}

std::string flatLoop(plan::PointwiseOp loop, const KernelBody &body) {
  return "#pragma omp simd\n  for (std::int64_t i = first; i < last; ++i) {\n" +
         element(loop, body, "    ", [](size_t) { return std::string("i"); }) + "  }\n";
}

std::string nestedLoop(plan::PointwiseOp loop, const KernelBody &body, const LoopNest &nest) {
  std::string text, closing, indent = "  ";
  const size_t innermost = nest.extents.size() - 1;
  for (size_t d = 0; d <= innermost; ++d) {
    const std::string i = "i" + std::to_string(d);
    if (d == innermost)
      text += "#pragma omp simd\n";
    text += indent + "for (std::int64_t " + i + " = " + (d == 0 ? "first" : "0") + "; " + i +
            " < " + (d == 0 ? "last" : std::to_string(nest.extents[d])) + "; ++" + i + ")" +
            (d == innermost ? " {" : "") + "\n";
    indent += "  ";
  }
  return text + element(loop, body, indent, [&](size_t o) { return indexOf(nest.strides[o]); }) +
         indent.substr(2) + "}\n";
}

/// "addf, maximumf" → "addMaximum".
std::string shortName(const std::string &summary) {
  std::string name;
  llvm::SmallVector<StringRef> words;
  StringRef(summary).split(words, ", ");
  for (StringRef word : llvm::ArrayRef(words).take_front(3)) {
    word.consume_back("f");
    name += name.empty() ? word.str() : llvm::toUpper(word.front()) + word.drop_front().str();
  }
  return name + (words.size() > 3 ? "Etc" : "");
}

} // namespace

FailureOr<std::string> Kernels::expressionOf(plan::PointwiseOp loop) {
  FailureOr<KernelBody> body = printBody(loop);
  if (failed(body))
    return failure();
  std::string text = pointers(loop);
  if (text.empty()) {
    loop.emitError("generated loops do not compute with 16-bit floats");
    return failure();
  }
  std::string template_ = "split";
  if (loop.getFlat()) {
    text += flatLoop(loop, *body);
  } else {
    const LoopNest nest = nestOf(loop);
    std::int64_t inner = 1;
    for (std::int64_t extent : llvm::ArrayRef(nest.extents).drop_front())
      inner *= extent;
    text += nestedLoop(loop, *body, nest);
    template_ =
        "splitRows<" + std::to_string(nest.extents.front()) + ", " + std::to_string(inner) + ", ";
  }
  auto [place, isNew] = known.try_emplace(text);
  if (!isNew)
    return place->second;
  const std::string name = names.unique("", shortName(body->summary));
  texts.push_back("// " + body->summary + "\nCLONES void " + name +
                  "(void *const *outs, const void *const *ins, std::int64_t first,\n"
                  "    std::int64_t last) {\n" +
                  text + "}\n");
  extrema |= body->usesExtrema;
  place->second = "&" + (loop.getFlat() ? template_ + "<" + name : template_ + name) + ">";
  return place->second;
}

} // namespace syncline::codegen
