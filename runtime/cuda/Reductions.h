// Commands for reductions by the backend's kernels.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

/// Appends the reduction of x to y; T is float or BFloat16.
template <typename T>
void appendReduction(Preparation &p, std::string_view implementation, Reduction kind,
                     const ReduceMap &map, const Place<const T> &x, const Place<float> &y) {
  const std::int64_t parts = reduceParts(map);
  const auto scratch = p.scratchPlace<double>(parts == 1 ? 0 : parts * map.results * 8);
  p.call(implementation, [&program = p.program, kind, map, scratch, x, y] {
    SYNCLINE_CHECK(reduceTerms<T>(program.device.compute, kind, map, x, y, scratch));
  });
}

} // namespace syncline::cuda
