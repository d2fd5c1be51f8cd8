// Products of a banded matrix with a tensor along one of its dimensions, in one thread.
#pragma once

#include "runtime/core/Resample.h"

#include <cstdint>
#include <vector>

namespace syncline::cpu {

/// Where the elements of an operand lie: rows of `lanes` elements, `stride` elements apart.
template <typename T> struct Rows {
  T *data;
  std::int64_t stride;
};

/// The rows of a matrix repeat: row upper·i + p, for each p below `upper`, has `taps` entries from
/// column lower·i + shifts[p] on, the same ones for all i in [begin, end). One of `upper` and
/// `lower` is 1, as where a dimension is doubled or halved.
struct Pattern {
  std::int64_t upper = 1, lower = 1, taps = 0; ///< no taps: nothing repeats
  std::int64_t begin = 0, end = 0;
  std::vector<std::int64_t> shifts;
  std::vector<float> weights; ///< `taps` for each p
};

/// The product with one matrix. Not changed by apply(), so threads may share it.
class ResamplePass {
public:
  explicit ResamplePass(core::Bands matrix);

  const core::Bands &matrix() const { return bands; }

  /// y = the product along a dimension that has `before` indices before it and `after` behind it,
  /// for rows of `lanes` elements each. The bits of an element depend on no other.
  void apply(Rows<const float> x, Rows<float> y, std::int64_t before, std::int64_t after,
             std::int64_t lanes) const;

private:
  core::Bands bands;
  Pattern pattern;
  // Where nothing repeats and rows have few entries: `taps` for each row, the first ones of all
  // rows, then the second ones, ... Rows with fewer take their first column again, times 0: that is
  // not finite only where the row is not finite anyway.
  std::int64_t taps = 0;
  std::vector<std::int32_t> places; ///< columns
  std::vector<float> padded;        ///< weights

  void alongNeighbours(const float *x, float *y) const;
};

} // namespace syncline::cpu
