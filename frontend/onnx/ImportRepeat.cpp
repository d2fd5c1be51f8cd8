// Operators that repeat elements.
#include "frontend/onnx/BindCopies.h"
#include "frontend/onnx/FoldConstants.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/ShapeRules.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Where a shape that follows the batch repeats what all samples share: the dimension that another
/// batch changes.
static BatchLayout::Place repeatedPlace(nn::DimsRef dims, nn::DimsRef atOtherBatch,
                                        std::int64_t batch) {
  for (std::size_t d = 0; atOtherBatch.size() == dims.size() && d < dims.size(); ++d)
    if (atOtherBatch[d] != dims[d] && dims[d] % batch == 0)
      return BatchPlace{static_cast<std::int64_t>(d), 1, dims[d] / batch};
  return {};
}

/// Binds the entry of an Expand's target that states the exported batch, where the operand has it.
static void bindTarget(const BatchLayout &layout, nn::DimsRef x, const BatchPlace &place,
                       nn::Dims &target) {
  const std::int64_t fromEnd = static_cast<std::int64_t>(x.size()) - place.dim;
  const std::int64_t d = static_cast<std::int64_t>(target.size()) - fromEnd;
  if (d >= 0 && layout.exported && target[d] == place.factor() * *layout.exported)
    target[d] = x[place.dim];
}

/// The shape of an Expand's result at another batch, from an operand that stays as it is.
static nn::Dims expandedAtOtherBatch(NodeImport &node, nn::DimsRef x) {
  node.readsOtherBatch = true;
  const std::optional<nn::Dims> target = node.list("shape", 1);
  node.readsOtherBatch = false;
  llvm::Expected<nn::Dims> dims = nn::broadcastShape(x, target.value_or(nn::Dims()));
  if (dims)
    return *dims;
  llvm::consumeError(dims.takeError());
  return {};
}

static LogicalResult importExpand(NodeImport &node) {
  Value x = node.tensor(0);
  std::optional<nn::Dims> target = node.list("shape", 1);
  if (!target)
    return node.error("expected a constant shape");
  BatchLayout &layout = node.state.values.layout;
  const BatchLayout::Place place = layout.of(x);
  if (place)
    bindTarget(layout, shapeOf(x), *place, *target);
  if (llvm::is_contained(*target, 0)) {
    llvm::Expected<nn::Dims> dims = nn::broadcastShape(shapeOf(x), *target);
    if (dims)
      return defineEmptyPart(node, x, *dims);
    llvm::consumeError(dims.takeError());
  }
  SYNCLINE_TRY_MLIR(type, node.type(nn::broadcastShape(shapeOf(x), *target), x));
  if (*type == x.getType())
    return node.defineAlias();
  auto y = node.create<nn::BroadcastOp>(*type, x);
  if (!place) {
    const nn::Dims other = expandedAtOtherBatch(node, shapeOf(x));
    layout.set(y, repeatedPlace(shapeOf(y), other, layout.batch));
    addCopies(node, y);
  }
  return node.define(y);
}

/// The dimensions, each as often as the repeats say.
static nn::Dims tiled(nn::DimsRef x, nn::DimsRef repeats) {
  nn::Dims dims;
  for (const auto &[size, count] : llvm::zip_equal(x, repeats))
    dims.push_back(size * count);
  return dims;
}

// A dimension of more than one entry is repeated in one of its own before it.
static LogicalResult importTile(NodeImport &node) {
  Value x = node.tensor(0);
  const nn::Dims dims(shapeOf(x));
  SYNCLINE_TRY_MLIR(repeats, tileRepeats(node, dims.size()));
  nn::Dims apart, repeated;
  for (const auto &[size, count] : llvm::zip_equal(dims, *repeats)) {
    if (size > 1 && count > 1) {
      apart.push_back(1);
      repeated.push_back(count);
    }
    apart.push_back(size);
    repeated.push_back(size > 1 ? size : count);
  }
  SYNCLINE_TRY_MLIR(type, node.type(tiled(dims, *repeats), x));
  if (*type == x.getType())
    return node.defineAlias();
  BatchLayout &layout = node.state.values.layout;
  const bool isShared = !layout.of(x);
  node.readsOtherBatch = true;
  const FailureOr<nn::Dims> others = tileRepeats(node, dims.size());
  node.readsOtherBatch = false;
  if (failed(others) || (!isShared && *others != *repeats))
    return node.error("it would repeat samples as often as the batch has them");
  auto all = node.create<nn::BroadcastOp>(RankedTensorType::get(repeated, elementOf(x)),
                                          node.reshape(x, apart));
  Value y = node.reshape(all, type->getShape());
  if (isShared) {
    layout.set(y, repeatedPlace(shapeOf(y), tiled(dims, *others), layout.batch));
    if (!layout.of(y))
      addCopies(node, all);
  }
  return node.define(y);
}

OpRows frontend::repeatOps() {
  static constexpr OpRow rows[] = {
      {"Expand", {importExpand, 2, 1, false}},
      {"Tile", {importTile, 2, 1, false}},
  };
  return rows;
}
