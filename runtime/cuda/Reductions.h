// Commands for sums by the backend's kernels.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

/// Appends y = Σ x / divisor; T is float or BFloat16.
template <typename T>
void appendReduction(Preparation &p, std::string_view implementation, const ReduceMap &map,
                     const Place<const T> &x, const Place<float> &y, double divisor) {
  const std::int64_t parts = reduceParts(map);
  const auto scratch = p.scratchPlace<double>(parts == 1 ? 0 : parts * map.results * 8);
  p.call(implementation, [&program = p.program, map, divisor, scratch, x, y] {
    SYNCLINE_CHECK(reduceTerms<T>(program.device.compute, map, x, y, divisor, scratch));
  });
}

} // namespace syncline::cuda
