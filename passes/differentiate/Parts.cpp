// Finds values that slices divide.
#include "passes/differentiate/Parts.h"

#include "ir/nn/Shapes.h"

#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace syncline;
using namespace syncline::differentiate;
using namespace syncline::nn;

static DimsRef shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

PartRange differentiate::rangeOf(SliceOp slice, std::int64_t axis) {
  const std::int64_t begin = slice.getStarts()[axis];
  return {begin, begin + shapeOf(slice.getY())[axis]};
}

/// The one axis along which the slice is shorter than what it reads; unset where it is another
/// kind of slice.
static std::optional<std::int64_t> axisOf(SliceOp slice) {
  std::optional<std::int64_t> axis;
  for (auto [d, extent, whole] : llvm::enumerate(shapeOf(slice.getY()), shapeOf(slice.getX()))) {
    if (slice.getSteps()[d] != 1 && extent != 1)
      return std::nullopt;
    if (extent == whole)
      continue;
    if (axis)
      return std::nullopt;
    axis = static_cast<std::int64_t>(d);
  }
  return axis;
}

llvm::SmallVector<SliceOp> differentiate::slicesOf(Value value) {
  llvm::SmallVector<SliceOp> slices;
  for (Operation *user : value.getUsers())
    if (auto slice = dyn_cast<SliceOp>(user); slice && !slice->hasAttr(backwardAttr))
      slices.push_back(slice);
  return slices;
}

std::optional<std::int64_t> differentiate::axisOfParts(llvm::ArrayRef<SliceOp> slices) {
  const std::optional<std::int64_t> axis = slices.empty() ? std::nullopt : axisOf(slices[0]);
  if (!axis || !llvm::all_of(slices, [&](SliceOp slice) { return axisOf(slice) == axis; }))
    return std::nullopt;
  llvm::SmallVector<PartRange> ranges;
  for (SliceOp slice : slices)
    ranges.push_back(rangeOf(slice, *axis));
  llvm::sort(ranges);
  bool areNeighbours = false;
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i] == ranges[i - 1])
      continue;
    if (ranges[i].begin < ranges[i - 1].end)
      return std::nullopt;
    areNeighbours |= ranges[i].begin == ranges[i - 1].end;
  }
  return areNeighbours ? axis : std::nullopt;
}
