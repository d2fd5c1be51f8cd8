// Reference operations that go by indices.
#include "tests/reference/Values.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace syncline::nn;

namespace syncline::reference {

/// Calls `visit` with every index of what indices name, and the index in the whole tensor of `size`
/// entries along the axis; with an empty one where there is none.
template <typename Op>
static void forEachEntry(Op op, const Tensor &entries, const Tensor &indices, std::int64_t size,
                         const std::function<void(DimsRef, DimsRef)> &visit) {
  const auto axis = static_cast<std::size_t>(op.getAxis());
  const auto shared = static_cast<std::size_t>(op.getShared());
  const std::size_t named = indices.shape.size() - shared;
  forEachIndex(entries.shape, [&](DimsRef entry) {
    Dims number(entry.take_front(shared));
    llvm::append_range(number, entry.slice(axis, named));
    double row = indices.at(number);
    row = row < 0 ? row + static_cast<double>(size) : row;
    Dims place(entry.take_front(axis));
    place.push_back(static_cast<std::int64_t>(row));
    llvm::append_range(place, entry.drop_front(axis + named));
    const bool exists = row >= 0 && row < static_cast<double>(size);
    visit(entry, exists ? DimsRef(place) : DimsRef());
  });
}

static void gatherRows(GatherRowsOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor y = values.make(op.getY());
  forEachEntry(op, y, values[op.getIndices()], x.shape[op.getAxis()],
               [&](DimsRef entry, DimsRef place) {
                 y.at(entry) = place.empty() ? std::nan("") : x.at(place);
               });
  values.set(op.getY(), std::move(y));
}

/// The kinds are those of syncline/ScatterKind.h.
static double combined(std::uint64_t kind, double before, double update) {
  const bool isUnknown = std::isnan(before) || std::isnan(update);
  switch (kind) {
  case 0:
    return before + update;
  case 1:
    return update;
  case 2:
    return before * update;
  case 3:
    return isUnknown ? std::nan("") : std::max(before, update);
  default:
    return isUnknown ? std::nan("") : std::min(before, update);
  }
}

static void scatterRows(ScatterRowsOp op, Values &values) {
  const Tensor &updates = values[op.getUpdates()];
  Tensor y = op.getOnto() ? values[op.getOnto()] : values.make(op.getY());
  std::vector<Dims> spoilt;
  forEachEntry(op, updates, values[op.getIndices()], y.shape[op.getAxis()],
               [&](DimsRef entry, DimsRef place) {
                 if (place.empty())
                   spoilt.emplace_back(entry.take_front(op.getShared()));
                 else
                   y.at(place) = combined(op.getKind(), y.at(place), updates.at(entry));
               });
  forEachIndex(y.shape, [&](DimsRef place) {
    if (llvm::is_contained(spoilt, Dims(place.take_front(op.getShared()))))
      y.at(place) = std::nan("");
  });
  values.set(op.getY(), std::move(y));
}

static void topK(TopKOp op, Values &values) {
  const Tensor &x = values[op.getX()];
  Tensor best = values.make(op.getValues()), places = values.make(op.getIndices());
  const std::int64_t size = x.shape.back(), count = best.shape.back();
  const auto rank = [](double v) { return std::isnan(v) ? HUGE_VAL : v; };
  for (std::int64_t row = 0; row * size < static_cast<std::int64_t>(x.values.size()); ++row) {
    std::vector<std::int64_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
      const double a = x.values[row * size + i], b = x.values[row * size + j];
      if (std::isnan(a) != std::isnan(b))
        return std::isnan(a) == op.getLargest();
      return op.getLargest() ? rank(a) > rank(b) : rank(a) < rank(b);
    });
    for (std::int64_t i = 0; i < count; ++i) {
      best.values[row * count + i] = x.values[row * size + order[i]];
      places.values[row * count + i] = static_cast<double>(order[i]);
    }
  }
  values.set(op.getValues(), std::move(best));
  values.set(op.getIndices(), std::move(places));
}

bool evaluateIndex(Operation *op, Values &values) {
  if (auto known = dyn_cast<GatherRowsOp>(op))
    gatherRows(known, values);
  else if (auto known = dyn_cast<ScatterRowsOp>(op))
    scatterRows(known, values);
  else if (auto known = dyn_cast<TopKOp>(op))
    topK(known, values);
  else
    return false;
  return true;
}

} // namespace syncline::reference
