// ConvTranspose: the gradient of a convolution with respect to its data, and a bias.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/WindowAttributes.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Checks x, w and bias, whose shapes also follow from the group; w is [C, M/groups, ...].
static FailureOr<std::int64_t> readGroups(NodeImport &node) {
  const nn::DimsRef x = node.dims(0), w = node.dims(1);
  if (x.size() < 3 || x.size() != w.size())
    return node.error("expected x and w of one rank of at least 3, got " + nn::toString(x) +
                      " and " + nn::toString(w));
  if (auto kernel = node.integers("kernel_shape"); kernel && *kernel != w.drop_front(2))
    return node.error("kernel_shape " + nn::toString(*kernel) + " differs from the weights' " +
                      nn::toString(w.drop_front(2)));
  if (x[1] != w[0])
    return node.error("expected weights of " + llvm::Twine(x[1]) + " channels, got " +
                      nn::toString(w));
  const std::int64_t groups = node.integer("group", 1);
  if (groups < 1 || w[0] % groups != 0)
    return node.error("expected a group that divides " + llvm::Twine(w[0]) + " channels, got " +
                      llvm::Twine(groups));
  const std::int64_t channels = w[1] * groups;
  if (node.hasInput(2) && node.dims(2) != nn::DimsRef{channels})
    return node.error("expected a bias of " + llvm::Twine(channels) + " elements, got " +
                      nn::toString(node.dims(2)));
  return groups;
}

/// Zeros behind x up to the spatial sizes.
static FailureOr<Value> zerosBehind(NodeImport &node, Value x, nn::DimsRef sizes) {
  if (shapeOf(x).drop_front(2) == sizes)
    return x;
  nn::Dims dims(shapeOf(x).take_front(2));
  dims.append(sizes.begin(), sizes.end());
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  return node.create<nn::PadOp>(*type, x, nn::Dims(dims.size(), 0), llvm::APFloat(0.0)).getResult();
}

static LogicalResult importConvTranspose(NodeImport &node) {
  SYNCLINE_TRY_MLIR(groups, readGroups(node));
  const Value x = node.tensor(0), w = node.tensor(1);
  const nn::DimsRef wDims = shapeOf(w);
  SYNCLINE_TRY_MLIR(read,
                    readTransposedWindow(node, shapeOf(x).drop_front(2), wDims.drop_front(2)));
  nn::Dims dims{shapeOf(x)[0], wDims[1] * *groups};
  dims.append(read->reached);
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  const Window &window = read->window;
  const Value spread = node.create<nn::ConvBackwardDataOp>(
      *type, x, w, window.strides, window.dilations, window.padsBegin, window.padsEnd,
      static_cast<std::uint64_t>(*groups));
  SYNCLINE_TRY_MLIR(y, zerosBehind(node, spread, read->sizes));
  if (!node.hasInput(2))
    return node.define(*y);
  nn::Dims channelsFirst(wDims.size() - 1, 1);
  channelsFirst[0] = dims[1];
  const Value bias = node.reshape(node.tensor(2), channelsFirst);
  return node.define(node.create<nn::BinaryOp>((*y).getType(), nn::BinaryKind::add, *y, bias));
}

OpRows frontend::convTransposeOps() {
  static constexpr OpRow rows[] = {
      {"ConvTranspose", {importConvTranspose, 2, 3, /*floatOnly=*/true, /*onCuda=*/false}},
  };
  return rows;
}
