// Walking dense row-major tensors dimension by dimension: strides, views, and loops of copies.
#pragma once

#include "syncline/Step.h"

#include <cstdint>
#include <vector>

namespace syncline::core {

/// Row-major strides, in elements.
Shape denseStrides(const Shape &shape);

/// A tensor seen as outer × extent × inner around one dimension, row-major.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
/// A negative axis counts from the end.
AxisView aroundAxis(const Shape &shape, std::int64_t axis);

/// A walk over the elements starts + i·steps of a tensor: the place of the first element and the
/// strides, in elements.
struct Walk {
  std::int64_t offset = 0;
  Shape strides;
};
Walk walkOf(const Shape &strides, const Shape &starts, const Shape &steps);

/// The part of a tensor that remains when `begins` positions are put before it, and its place. A
/// negative number crops.
struct PadPart {
  Shape starts;  ///< in the result
  Shape skips;   ///< in the operand
  Shape extents; ///< zero or negative where nothing remains
  bool crops = false;
};
PadPart padPart(const Shape &from, const Shape &to, const Shape &begins);

/// Strides of the reduced tensor for each dimension of x, 0 for reduced dimensions. Negative axes
/// count from the end.
Shape reducedStrides(const Shape &shape, const Shape &axes);

/// Reorders values of the operand's dimensions, such as strides, to the dimensions of the
/// transposed tensor.
Shape permuted(const Shape &values, const Shape &permutation);

/// One loop of a copy between two walks over the same indices; strides in elements.
struct CopyLoop {
  std::int64_t extent, to, from;
};

/// The loops of a copy of this shape, outermost first. Extents of 1 are left out, and neighbouring
/// loops are merged where both walks continue with one stride.
std::vector<CopyLoop> mergedLoops(const Shape &shape, const Shape &to, const Shape &from);

} // namespace syncline::core
