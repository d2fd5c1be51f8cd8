// How the kernels resample and resampleBackward compute: along each axis by a matrix, in which the
// entries of a row lie side by side.
//
// A filter is a function f around 0. Element i of the result is Σ f(j - p)·x[j] over the elements j
// of the operand, where p = (a·i + b)/c. It is exact where p is halfway between two elements,
// because a, b and c are integers.
#pragma once

#include "runtime/core/Operands.h"
#include "syncline/ResampleFilter.h"

#include <cstdint>
#include <vector>

namespace syncline::core {

/// The attributes of both kernels.
struct Resampling {
  Shape axes;        ///< ascending
  Shape coordinates; ///< a, b and c of each axis
  ResampleFilter filter;
  double cubicCoefficient;
  bool excludesOutside; ///< otherwise what is outside the operand equals its border
  bool antialias;       ///< f is stretched by a/c where that is above 1
};

/// A matrix. Row i has the entries weights[begins[i] .. begins[i + 1]), from column firsts[i] on.
/// Neither the first nor the last column of a row lies before that of the row above.
struct Bands {
  std::int64_t columns = 0;
  std::vector<std::int32_t> firsts;
  std::vector<std::int64_t> begins{0};
  std::vector<float> weights;

  std::int64_t rows() const { return static_cast<std::int64_t>(firsts.size()); }
  std::int64_t count(std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row);
    return begins[i + 1] - begins[i];
  }
  const float *of(std::int64_t row) const {
    return weights.data() + begins[static_cast<std::size_t>(row)];
  }
};

/// The matrix by which axis number `axis` of the resampling gets from `columns` to `rows` elements.
/// Preconditions: those of checkResample().
Bands bandsOf(const Resampling &, std::size_t axis, std::int64_t columns, std::int64_t rows);

/// The matrix of the gradient.
Bands transposed(const Bands &);

/// Throws PreparationError where y is no resampling of x. Pass dx for x and dy for y backward.
void checkResample(const Operands &, Tensor x, Tensor y, const Resampling &);

} // namespace syncline::core
