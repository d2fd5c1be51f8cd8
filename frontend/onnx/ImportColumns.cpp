// Col2Im: the columns of blocks, added up where blocks overlap to an image.
#include "frontend/onnx/IndexedRows.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"
#include "frontend/onnx/WindowAttributes.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

namespace {

/// How blocks lie along one spatial dimension of the image.
struct Axis {
  std::int64_t block, columns, size, stride, dilation, begin;

  /// Whether the blocks lie side by side and are all of the image.
  bool isTiled() const {
    return stride == block && dilation == 1 && begin == 0 && columns * block == size;
  }
};

FailureOr<nn::Dims> integersAt(NodeImport &node, unsigned i, llvm::StringRef what) {
  const ConstantTensor *known = node.constant(i);
  if (known && !known->isReal())
    return nn::Dims(known->ints.begin(), known->ints.end());
  return node.error("expected constant integers as " + what + ", got '" + node.inputName(i) + "'");
}

/// x is [N, C·block, columns].
FailureOr<llvm::SmallVector<Axis, 2>> readAxes(NodeImport &node) {
  const nn::Dims x(node.dims(0));
  SYNCLINE_TRY_MLIR(image, integersAt(node, 1, "the image's shape"));
  SYNCLINE_TRY_MLIR(block, integersAt(node, 2, "the block's shape"));
  if (x.size() != 3 || image->empty() || image->size() != block->size())
    return node.error("expected x of rank 3 and an image and a block of one rank, got " +
                      nn::toString(x) + ", " + nn::toString(*image) + " and " +
                      nn::toString(*block));
  if (!isSaneShape(*image, 1))
    return node.error("the image's shape " + nn::toString(*image) + " is empty or too large");
  if (!isSaneShape(*block, 1) || x[1] % nn::elementCount(*block) != 0)
    return node.error("block " + nn::toString(*block) + " does not divide the " +
                      llvm::Twine(x[1]) + " rows of x");
  SYNCLINE_TRY_MLIR(window, readWindow(node, *image, *block));
  llvm::Expected<nn::Dims> columns = nn::windowPositions(*image, window->ref());
  if (!columns)
    return node.error(llvm::toString(columns.takeError()));
  llvm::SmallVector<Axis, 2> axes;
  for (std::size_t d = 0; d < image->size(); ++d)
    axes.push_back({(*block)[d], (*columns)[d], (*image)[d], window->strides[d],
                    window->dilations[d], window->padsBegin[d]});
  for (Axis &axis : axes)
    axis.stride = axis.columns == 1 && axis.block < axis.stride ? axis.block : axis.stride;
  if (nn::elementCount(*columns) != x[2])
    return node.error("expected " + nn::toString(*columns) + " columns, got " + llvm::Twine(x[2]));
  return axes;
}

/// x with another size along a dimension: `before` zeros, or elements less, come first.
FailureOr<Value> padded(NodeImport &node, Value x, std::int64_t d, std::int64_t before,
                        std::int64_t size) {
  nn::Dims dims(shapeOf(x)), begins(dims.size(), 0);
  dims[d] = size;
  begins[d] = before;
  SYNCLINE_TRY_MLIR(type, node.type(dims, x));
  return *type == x.getType() && before == 0
             ? x
             : node.create<nn::PadOp>(*type, x, begins, llvm::APFloat(0.0)).getResult();
}

/// Adds up the entries of dimension `block` of x, each moved to where it lies along dimension
/// `columns`, which becomes the image's. Dimension `block` becomes 1.
FailureOr<Value> addAlong(NodeImport &node, Value x, std::int64_t block, std::int64_t columns,
                          const Axis &axis) {
  FailureOr<Value> sum = Value();
  for (std::int64_t k = 0; k < axis.block; ++k) {
    SliceRanges ranges = wholeRange(shapeOf(x));
    ranges.starts[block] = k;
    ranges.counts[block] = 1;
    SYNCLINE_TRY_MLIR(entry, createSlice(node, x, ranges));
    nn::Dims dims(shapeOf(*entry)), spread(dims);
    spread.insert(spread.begin() + columns + 1, 1);
    SYNCLINE_TRY_MLIR(apart,
                      padded(node, node.reshape(*entry, spread), columns + 1, 0, axis.stride));
    dims[columns] *= axis.stride;
    SYNCLINE_TRY_MLIR(moved, padded(node, node.reshape(*apart, dims), columns,
                                    k * axis.dilation - axis.begin, axis.size));
    sum = *sum ? createBinary(node, nn::BinaryKind::add, *sum, *moved) : *moved;
    if (failed(sum))
      return failure();
  }
  return sum;
}

/// [N, C, block .., columns ..] where blocks lie side by side.
Value tiled(NodeImport &node, Value x, std::size_t rank) {
  nn::Dims order{0, 1};
  for (std::size_t d = 0; d < rank; ++d)
    order.append({static_cast<std::int64_t>(2 + rank + d), static_cast<std::int64_t>(2 + d)});
  return createTranspose(node, x, order);
}

} // namespace

static LogicalResult importColumns(NodeImport &node) {
  constexpr std::int64_t mostMoved = 1024; // entries of a block, each of which is a few operations
  SYNCLINE_TRY_MLIR(axes, readAxes(node));
  const nn::Dims x(node.dims(0));
  nn::Dims blocks, columns, image;
  for (const Axis &axis : *axes) {
    blocks.push_back(axis.block);
    columns.push_back(axis.columns);
    image.push_back(axis.size);
  }
  nn::Dims apart{x[0], x[1] / nn::elementCount(blocks)}, result(apart);
  llvm::append_range(apart, blocks);
  llvm::append_range(apart, columns);
  llvm::append_range(result, image);
  SYNCLINE_TRY_MLIR(type, node.type(result, node.tensor(0)));
  Value y = node.reshape(node.tensor(0), apart);
  if (llvm::all_of(*axes, [](const Axis &axis) { return axis.isTiled(); }))
    return node.define(node.reshape(tiled(node, y, axes->size()), result));
  if (std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}) > mostMoved)
    return node.error("blocks that overlap are supported up to " + llvm::Twine(mostMoved) +
                      " entries, got " + nn::toString(blocks));
  const auto rank = static_cast<std::int64_t>(axes->size());
  for (std::int64_t d = 0; d < rank; ++d) {
    SYNCLINE_TRY_MLIR(sum, addAlong(node, y, 2 + d, 2 + rank + d, (*axes)[d]));
    y = *sum;
  }
  return node.define(node.reshape(y, result));
}

OpRows frontend::columnOps() {
  static constexpr OpRow rows[] = {
      {"Col2Im", {importColumns, 3, 1}},
  };
  return rows;
}
