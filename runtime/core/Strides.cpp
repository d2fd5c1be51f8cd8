// Strides and loops over dense tensors.
#include "runtime/core/Strides.h"

#include <algorithm>

namespace syncline::core {

Shape denseStrides(const Shape &shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

AxisView aroundAxis(const Shape &shape, std::int64_t axis) {
  AxisView view;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0)
    axis += rank;
  for (std::int64_t i = 0; i < rank; ++i)
    (i < axis ? view.outer : i == axis ? view.extent : view.inner) *= shape[i];
  return view;
}

Walk walkOf(const Shape &strides, const Shape &starts, const Shape &steps) {
  Walk walk{0, strides};
  for (std::size_t i = 0; i < strides.size(); ++i) {
    walk.offset += starts[i] * walk.strides[i];
    walk.strides[i] *= steps[i];
  }
  return walk;
}

PadPart padPart(const Shape &from, const Shape &to, const Shape &begins) {
  PadPart part{Shape(from.size()), Shape(from.size()), Shape(from.size())};
  for (std::size_t i = 0; i < from.size(); ++i) {
    part.starts[i] = std::max<std::int64_t>(begins[i], 0);
    part.skips[i] = std::max<std::int64_t>(-begins[i], 0);
    part.extents[i] = std::min(from[i] - part.skips[i], to[i] - part.starts[i]);
    part.crops |= part.extents[i] != from[i];
  }
  return part;
}

Shape reducedStrides(const Shape &shape, const Shape &axes) {
  std::vector<bool> isReduced(shape.size());
  for (std::int64_t axis : axes)
    isReduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size())
                                                : axis)] = true;
  Shape strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;)
    if (!isReduced[i]) {
      strides[i] = stride;
      stride *= shape[i];
    }
  return strides;
}

Shape permuted(const Shape &values, const Shape &permutation) {
  Shape moved;
  for (std::int64_t from : permutation)
    moved.push_back(values[static_cast<std::size_t>(from)]);
  return moved;
}

std::vector<CopyLoop> mergedLoops(const Shape &shape, const Shape &to, const Shape &from) {
  std::vector<CopyLoop> loops;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!loops.empty() && loops.back().to == to[i] * shape[i] &&
        loops.back().from == from[i] * shape[i])
      loops.back() = {loops.back().extent * shape[i], to[i], from[i]};
    else
      loops.push_back({shape[i], to[i], from[i]});
  }
  return loops;
}

} // namespace syncline::core
