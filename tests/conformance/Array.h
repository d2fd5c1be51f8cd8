// Dense row-major arrays of doubles: what the slow, obvious references compute on.
#pragma once

#include "syncline/Step.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::conformance {

struct Array {
  Array() = default;
  explicit Array(Shape shape, double value = 0);

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  double &operator[](const Shape &index) { return values[flat(index)]; }
  double operator[](const Shape &index) const { return values[flat(index)]; }
  std::size_t flat(const Shape &index) const;

  Shape shape;
  std::vector<double> values;
};

/// Reproducible values in [-1, 1), no two equal in practice, exact in 32-bit floats.
Array randomArray(Shape shape, std::uint64_t seed);

/// Calls body for every index of a shape in row-major order.
void forEachIndex(const Shape &shape, const std::function<void(const Shape &)> &body);

/// Gradient of Σ dy·f(x) with respect to x by central differences in double: judges backward
/// operations without another derivation of them.
Array numericalGradient(const std::function<Array(const Array &)> &f, const Array &x,
                        const Array &dy, double step = 1e-5);

/// ‖a - b‖ / ‖b‖, or ‖a - b‖ where b is 0.
double relativeError(const Array &a, const Array &b);

} // namespace syncline::conformance
