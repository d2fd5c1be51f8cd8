// Values that repeat along a dimension.
#pragma once

#include "ir/nn/Shapes.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace syncline::frontend {

/// Keeps one of equal slices along each dimension of a dense row-major tensor, which then has
/// extent 1: broadcast to the dimensions that it had, it is what it was. `width` is how many of
/// `values` make an element. Equal means the same bits.
template <typename T>
void keepOneOfEqual(nn::Dims &dims, std::vector<T> &values, std::int64_t width = 1) {
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t extent = dims[d];
    const std::int64_t outer = nn::elementCount(nn::DimsRef(dims).take_front(d));
    const std::int64_t slice = nn::elementCount(nn::DimsRef(dims).drop_front(d + 1)) * width;
    bool areEqual = extent > 1;
    for (std::int64_t i = 0; areEqual && i < outer * extent; ++i)
      areEqual = std::memcmp(&values[i * slice], &values[i / extent * extent * slice],
                             slice * sizeof(T)) == 0;
    if (!areEqual)
      continue;
    for (std::int64_t i = 1; i < outer; ++i)
      std::copy_n(values.begin() + i * extent * slice, slice, values.begin() + i * slice);
    values.resize(outer * slice);
    dims[d] = 1;
  }
}

} // namespace syncline::frontend
