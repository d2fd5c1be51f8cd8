// Merges dimensions, and writes indices and elements.
#include "codegen/step/LoopNest.h"

#include "codegen/step/Text.h"

using namespace mlir;

namespace syncline::codegen {

namespace {

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

} // namespace

std::int64_t LoopNest::elements() const { return ShapedType::getNumElements(extents); }

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
    // Dimension d merges with the one outside it where one loop can walk both in all operands.
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

llvm::StringRef elementType(Value operand) {
  return cppType(cast<MemRefType>(operand.getType()).getElementType());
}

std::string element(plan::PointwiseOp loop, const KernelBody &body, llvm::StringRef indent,
                    const std::function<std::string(size_t)> &subscript) {
  std::string text;
  for (auto [number, operand] : llvm::enumerate(loop.getIns())) {
    const std::string i = std::to_string(number);
    text += (indent + "const " + elementType(operand) + " x" + i + " = a" + i + subscript(number) +
             ";\n")
                .str();
  }
  for (const std::string &statement : body.statements)
    text += (indent + statement + "\n").str();
  for (auto [number, result] : llvm::enumerate(body.results))
    text += (indent + "r" + std::to_string(number) + subscript(loop.getIns().size() + number) +
             " = " + result + ";\n")
                .str();
  return text;
}

} // namespace syncline::codegen
