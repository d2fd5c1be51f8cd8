// Dense row-major tensors walked dimension by dimension: strides, views, loops of copies.
#pragma once

#include "syncline/Step.h"

#include <cstdint>
#include <vector>

namespace syncline {

/// Row-major strides, in elements.
Shape denseStrides(const Shape &shape);

/// A tensor seen around one dimension: outer × extent × inner, row-major.
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
/// A negative axis counts from the end.
AxisView aroundAxis(const Shape &shape, std::int64_t axis);

/// The elements starts + i·steps of a tensor with these strides: the first one's place, and their
/// strides; in elements.
struct Walk {
  std::int64_t offset = 0;
  Shape strides;
};
Walk walkOf(const Shape &strides, const Shape &starts, const Shape &steps);

/// What of a tensor remains when `begins` positions are put before it (negative: cropped), and
/// where.
struct PadPart {
  Shape starts;  ///< in the result
  Shape skips;   ///< in the operand
  Shape extents; ///< not positive where nothing remains
  bool crops = false;
};
PadPart padPart(const Shape &from, const Shape &to, const Shape &begins);

/// Strides of the reduced tensor for each dimension of x: 0 where reduced. Negative axes count from
/// the end.
Shape reducedStrides(const Shape &shape, const Shape &axes);

/// What belongs to each dimension of a transposed tensor: its strides in the operand, say.
Shape permuted(const Shape &values, const Shape &permutation);

/// One loop of a copy between two walks over the same indices; strides in elements.
struct CopyLoop {
  std::int64_t extent, to, from;
};

/// The loops of a copy of this shape, outermost first: without extents of 1, neighbours merged
/// where both walks go on as one.
std::vector<CopyLoop> mergedLoops(const Shape &shape, const Shape &to, const Shape &from);

} // namespace syncline
