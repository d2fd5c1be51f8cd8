// Arrays, random values, numerical gradients.
#include "tests/conformance/Array.h"

#include "runtime/core/Random.h"

#include <algorithm>
#include <cmath>

namespace syncline::conformance {

Array::Array(Shape shape, double value) : shape(std::move(shape)) {
  std::int64_t size = 1;
  for (std::int64_t extent : this->shape)
    size *= extent;
  values.assign(static_cast<std::size_t>(size), value);
}

std::size_t Array::flat(const Shape &index) const {
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    at = at * shape[i] + index[i];
  return static_cast<std::size_t>(at);
}

Array randomArray(Shape shape, std::uint64_t seed) {
  Array array(std::move(shape));
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const auto words =
        core::philox({static_cast<std::uint32_t>(seed), 7}, {static_cast<std::uint32_t>(i)});
    array.values[i] = static_cast<float>(words[0] / 2147483648.0 - 1.0);
  }
  return array;
}

void forEachIndex(const Shape &shape, const std::function<void(const Shape &)> &body) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return;
  Shape index(shape.size(), 0);
  while (true) {
    body(index);
    std::size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

Array numericalGradient(const std::function<Array(const Array &)> &f, const Array &x,
                        const Array &dy, double step) {
  auto project = [&](const Array &at) {
    const Array y = f(at);
    double sum = 0;
    for (std::size_t i = 0; i < y.values.size(); ++i)
      sum += y.values[i] * dy.values[i];
    return sum;
  };
  Array gradient(x.shape), moved = x;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    moved.values[i] = x.values[i] + step;
    const double above = project(moved);
    moved.values[i] = x.values[i] - step;
    const double below = project(moved);
    moved.values[i] = x.values[i];
    gradient.values[i] = (above - below) / (2 * step);
  }
  return gradient;
}

double relativeError(const Array &a, const Array &b) {
  if (a.values.size() != b.values.size())
    return INFINITY;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    difference += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
    norm += b.values[i] * b.values[i];
  }
  return std::sqrt(norm > 0 ? difference / norm : difference);
}

} // namespace syncline::conformance
