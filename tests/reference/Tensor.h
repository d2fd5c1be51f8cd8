// Dense tensors of doubles with row-major elements: what the reference computes with.
#pragma once

#include "ir/nn/Shapes.h"

#include <cassert>
#include <functional>
#include <vector>

namespace syncline::reference {

struct Tensor {
  nn::Dims shape;
  std::vector<double> values;

  Tensor() = default;
  explicit Tensor(nn::DimsRef dims) : shape(dims), values(nn::elementCount(dims), 0.0) {}

  /// Place of an element in `values`.
  std::int64_t offset(nn::DimsRef index) const {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      place = place * shape[i] + index[i];
    return place;
  }
  double &at(nn::DimsRef index) { return values[offset(index)]; }
  double at(nn::DimsRef index) const { return values[offset(index)]; }

  /// The element that `index` of a larger shape reads when this tensor broadcasts to it.
  double broadcastAt(nn::DimsRef index) const {
    nn::Dims own(index.take_back(shape.size()));
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = shape[i] == 1 ? 0 : own[i];
    return at(own);
  }
};

/// Calls `visit` with every index of `shape` in row-major order. A scalar has one, empty index.
inline void forEachIndex(nn::DimsRef shape, const std::function<void(nn::DimsRef)> &visit) {
  nn::Dims index(shape.size(), 0);
  for (std::int64_t left = nn::elementCount(shape); left > 0; --left) {
    visit(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

} // namespace syncline::reference
