// DepthToSpace and SpaceToDepth: blocks of channels become blocks of pixels, and back.
#include "frontend/onnx/OpTable.h"

#include "onnx/onnx_pb.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// The side of a block; x is [N, C, H, W].
static FailureOr<std::int64_t> readBlock(NodeImport &node) {
  if (node.dims(0).size() != 4)
    return node.error("expected x of rank 4, got " + nn::toString(node.dims(0)));
  if (!node.attribute("blocksize"))
    return node.error("expected a blocksize");
  const std::int64_t block = node.integer("blocksize", 0);
  if (block < 1)
    return node.error("expected a blocksize of at least 1, got " + llvm::Twine(block));
  return block;
}

/// x as `apart`, its dimensions in another order, as `dims`.
static LogicalResult defineMoved(NodeImport &node, nn::DimsRef apart, nn::DimsRef order,
                                 nn::DimsRef dims) {
  const Value x = node.tensor(0);
  nn::Dims moved;
  for (std::int64_t d : order)
    moved.push_back(apart[d]);
  SYNCLINE_TRY_MLIR(type, node.type(moved, x));
  const Value y = node.create<nn::TransposeOp>(*type, node.reshape(x, apart), order);
  return node.define(node.reshape(y, dims));
}

// The channels are [block, block, C'] in mode DCR, the only one before opset 11, and
// [C', block, block] in mode CRD, as in PyTorch's PixelShuffle.
static LogicalResult importDepthToSpace(NodeImport &node) {
  SYNCLINE_TRY_MLIR(block, readBlock(node));
  const nn::Dims x(node.dims(0));
  const std::int64_t b = *block, channels = x[1] / b / b;
  if (x[1] % b != 0 || x[1] / b % b != 0)
    return node.error("expected channels in blocks of " + llvm::Twine(b) + "x" + llvm::Twine(b) +
                      ", got " + llvm::Twine(x[1]));
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return node.error("mode: expected DCR or CRD, got '" + mode + "'");
  if (b == 1)
    return node.defineAlias();
  const nn::Dims dims{x[0], channels, x[2] * b, x[3] * b};
  return mode == "DCR"
             ? defineMoved(node, {x[0], b, b, channels, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, dims)
             : defineMoved(node, {x[0], channels, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, dims);
}

static LogicalResult importSpaceToDepth(NodeImport &node) {
  SYNCLINE_TRY_MLIR(block, readBlock(node));
  const nn::Dims x(node.dims(0));
  const std::int64_t b = *block;
  if (x[2] % b != 0 || x[3] % b != 0)
    return node.error("expected height and width in blocks of " + llvm::Twine(b) + ", got " +
                      llvm::Twine(x[2]) + " and " + llvm::Twine(x[3]));
  if (b == 1)
    return node.defineAlias();
  return defineMoved(node, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4},
                     {x[0], x[1] * b * b, x[2] / b, x[3] / b});
}

OpRows frontend::blockOps() {
  static constexpr OpRow rows[] = {
      {"DepthToSpace", {importDepthToSpace, 1, 1, false}},
      {"SpaceToDepth", {importSpaceToDepth, 1, 1, false}},
  };
  return rows;
}
