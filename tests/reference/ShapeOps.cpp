// Reference operations that move or reduce elements.
#include "tests/reference/Values.h"

#include <cmath>
#include <optional>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

static void reshape(ReshapeOp op, Values &values) {
  Tensor y = values.make(op.getY());
  y.values = values[op.getX()].values;
  values.set(op.getY(), std::move(y));
}

static void transpose(TransposeOp op, Values &values) {
  Tensor y = values.make(op.getY());
  forEachIndex(y.shape, [&](DimsRef out) {
    Dims in(out.size());
    for (auto [i, d] : llvm::enumerate(op.getPermutation()))
      in[d] = out[i];
    y.at(out) = values[op.getX()].at(in);
  });
  values.set(op.getY(), std::move(y));
}

static void concat(ConcatOp op, Values &values) {
  Tensor y = values.make(op.getY());
  std::int64_t start = 0, axis = op.getAxis();
  for (Value operand : op.getXs()) {
    const Tensor &x = values[operand];
    forEachIndex(x.shape, [&](DimsRef in) {
      Dims out(in);
      out[axis] += start;
      y.at(out) = x.at(in);
    });
    start += x.shape[axis];
  }
  values.set(op.getY(), std::move(y));
}

static Dims slicePlace(DimsRef small, DimsRef starts, DimsRef steps) {
  Dims large;
  for (std::size_t d = 0; d < small.size(); ++d)
    large.push_back(starts[d] + small[d] * steps[d]);
  return large;
}

static void slice(SliceOp op, Values &values) {
  Tensor y = values.make(op.getY());
  forEachIndex(y.shape, [&](DimsRef i) {
    y.at(i) = values[op.getX()].at(slicePlace(i, op.getStarts(), op.getSteps()));
  });
  values.set(op.getY(), std::move(y));
}

static void sliceBackward(SliceBackwardOp op, Values &values) {
  Tensor dx = values.make(op.getDx());
  const Tensor &dy = values[op.getDy()];
  forEachIndex(dy.shape,
               [&](DimsRef i) { dx.at(slicePlace(i, op.getStarts(), op.getSteps())) = dy.at(i); });
  values.set(op.getDx(), std::move(dx));
}

static void pad(PadOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY());
  forEachIndex(y.shape, [&](DimsRef out) {
    Dims in;
    bool inside = true;
    for (std::size_t d = 0; d < out.size(); ++d) {
      in.push_back(out[d] - op.getBegins()[d]);
      inside &= in[d] >= 0 && in[d] < x.shape[d];
    }
    y.at(out) = inside ? x.at(in) : op.getValue().convertToDouble();
  });
  values.set(op.getY(), std::move(y));
}

static void reduce(ReduceOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  const bool isMaximum = op.getKind() == Reduction::maximum;
  Tensor kept(reducedShape(x.shape, op.getAxes(), true));
  if (isMaximum)
    kept.values.assign(kept.values.size(), -INFINITY);
  forEachIndex(x.shape, [&](DimsRef in) {
    Dims out(in);
    for (std::int64_t axis : op.getAxes())
      out[axis] = 0;
    double &y = kept.at(out);
    if (!isMaximum)
      y += x.at(in);
    else if (std::isnan(x.at(in)) || x.at(in) > y) // NaN stays
      y = x.at(in);
  });
  Tensor y = values.make(op.getY());
  y.values = kept.values;
  if (op.getKind() == Reduction::mean)
    for (double &value : y.values)
      value *= double(y.values.size()) / double(x.values.size());
  values.set(op.getY(), std::move(y));
}

/// The table's row that the i-th id names; nothing where there is no such row.
static std::optional<std::size_t> rowOf(const Tensor &ids, std::size_t i, const Tensor &table) {
  const double rows = double(table.shape[0]);
  const double row = ids.values[i] < 0 ? ids.values[i] + rows : ids.values[i];
  return row >= 0 && row < rows ? std::optional(std::size_t(row)) : std::nullopt;
}

static void embedding(EmbeddingOp op, Values &values) {
  const Tensor &ids = values[op.getIds()], &table = values[op.getTable()];
  Tensor y = values.make(op.getY());
  const std::size_t width = y.values.size() / ids.values.size();
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const auto row = rowOf(ids, i / width, table);
    y.values[i] = row ? table.values[*row * width + i % width] : std::nan("");
  }
  values.set(op.getY(), std::move(y));
}

static void embeddingBackward(EmbeddingBackwardOp op, Values &values) {
  const Tensor &ids = values[op.getIds()], &dy = values[op.getDy()];
  Tensor dtable = op.getOnto() ? values[op.getOnto()] : values.make(op.getDtable());
  const std::size_t width = dy.values.size() / ids.values.size();
  for (std::size_t i = 0; i < dy.values.size(); ++i)
    if (const auto row = rowOf(ids, i / width, dtable))
      dtable.values[*row * width + i % width] += dy.values[i];
  values.set(op.getDtable(), std::move(dtable));
}

bool evaluateShape(Operation *op, Values &values) {
  if (auto known = dyn_cast<ReshapeOp>(op))
    reshape(known, values);
  else if (auto known = dyn_cast<TransposeOp>(op))
    transpose(known, values);
  else if (auto known = dyn_cast<ConcatOp>(op))
    concat(known, values);
  else if (auto known = dyn_cast<SliceOp>(op))
    slice(known, values);
  else if (auto known = dyn_cast<SliceBackwardOp>(op))
    sliceBackward(known, values);
  else if (auto known = dyn_cast<EmbeddingOp>(op))
    embedding(known, values);
  else if (auto known = dyn_cast<EmbeddingBackwardOp>(op))
    embeddingBackward(known, values);
  else if (auto known = dyn_cast<PadOp>(op))
    pad(known, values);
  else if (auto known = dyn_cast<ReduceOp>(op))
    reduce(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
