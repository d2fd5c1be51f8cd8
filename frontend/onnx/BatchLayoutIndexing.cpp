// Where the batch is in results of recurrent layers, and of operations that take or put rows by
// their indices.
#include "frontend/onnx/BatchLayout.h"

#include "frontend/onnx/ValueTypes.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// Rows of a table that samples do not share, by known numbers: each sample's own rows, in order.
BatchLayout::Place BatchLayout::ofKnownRows(nn::EmbeddingOp op, const BatchPlace &table) {
  const auto refused = [&] { return mixed("it would take rows of one sample for another"); };
  auto constant = op.getIds().getDefiningOp<nn::ConstantOp>();
  const std::int64_t count = nn::elementCount(shapeOf(op.getIds())), rows = count / batch;
  if (!constant || table.outer != 1 || rows == 0 || count % batch != 0)
    return refused();
  std::int64_t i = 0;
  for (const APInt &id : cast<DenseElementsAttr>(constant.getValue()).getValues<APInt>())
    if (id.getSExtValue() / table.inner != i++ / rows)
      return refused();
  const Place place = placeIn(shapeOf(op.getIds()), {1, rows}, batch);
  return place ? place : refused();
}

/// Rows by numbers that are the samples', of a table that all samples share.
BatchLayout::Place BatchLayout::ofEmbedding(nn::EmbeddingOp op) {
  const Place ids = of(op.getIds());
  Place table = of(op.getTable());
  if (!table)
    return ids;
  if (ids)
    return mixed("it would take rows of one sample for another");
  if (table->dim == 0)
    return ofKnownRows(op, *table);
  table->dim += rankOf(op.getIds()) - 1;
  return table;
}

BatchLayout::Place BatchLayout::ofGatherRows(nn::GatherRowsOp op) {
  const auto axis = static_cast<std::int64_t>(op.getAxis());
  const auto shared = static_cast<std::int64_t>(op.getShared());
  Place x = of(op.getX()), indices = of(op.getIndices());
  if (x && (x->dim == axis || (indices && (*indices != *x || x->dim >= shared))))
    return mixed("it would take entries of one sample for another");
  const Place joint = x ? x : indices;
  if (joint && !(x && indices) && joint->dim < shared &&
      !isShared({x ? op.getIndices() : op.getX(), 0}, *joint))
    return {};
  if (x && x->dim > axis)
    x->dim += rankOf(op.getIndices()) - shared - 1;
  if (!x && indices && indices->dim >= shared)
    indices->dim += axis - shared;
  return x ? x : indices;
}

/// The places of `onto`, the updates and the indices in the result are one.
BatchLayout::Place BatchLayout::ofScatterRows(nn::ScatterRowsOp op) {
  const auto axis = static_cast<std::int64_t>(op.getAxis());
  const auto shared = static_cast<std::int64_t>(op.getShared());
  const std::int64_t named = rankOf(op.getIndices()) - shared;
  Place updates = of(op.getUpdates());
  const Place onto = op.getOnto() ? of(op.getOnto()) : Place(), indices = of(op.getIndices());
  if ((onto && onto->dim == axis) || (indices && indices->dim >= shared) ||
      (updates && updates->dim >= axis && updates->dim < axis + named))
    return mixed("it would put entries of one sample into another");
  if (updates && updates->dim > axis)
    updates->dim += 1 - named;
  const Place joint = onto ? onto : updates ? updates : indices;
  for (const Place &place : {onto, updates, indices})
    if (joint && place && *place != *joint)
      return mixed("its operands have the batch in different dimensions");
  if (!joint)
    return {};
  const std::int64_t shift = joint->dim > axis ? 1 - named : 0;
  const bool areShared =
      (onto || !op.getOnto() || isShared({op.getOnto(), 0}, *joint)) &&
      (updates || isShared({op.getUpdates(), shift}, *joint)) &&
      (indices || joint->dim >= shared || isShared({op.getIndices(), 0}, *joint));
  return areShared ? joint : Place();
}

/// Samples go through time apart from each other.
BatchLayout::Place BatchLayout::ofRecurrent(nn::RecurrentOp op, Value result) {
  const std::pair<Value, std::int64_t> operands[] = {
      {op.getX(), 1}, {op.getInitial(), 2}, {op.getLengths(), 0}};
  Place place;
  for (auto [value, dim] : operands) {
    Place own = value ? of(value) : Place();
    if (own && own->dim != dim)
      return mixed("it would compute over dimension " + std::to_string(own->dim) +
                   ", which has the batch, and so mix samples");
    if (!own)
      continue;
    own->dim = 1;
    if (place && *place != *own)
      return mixed("it would mix samples: its operands have the batch in different orders");
    place = own;
  }
  for (auto [value, dim] : operands)
    if (place && value && !of(value) && !isShared({value, 1 - dim}, *place))
      return {};
  if (of(op.getR()) || of(op.getBias()))
    return mixed("its weights have the batch");
  if (place && result == op.getLast())
    place->dim = 2;
  return place;
}
