// Amounts of computing and moving by which layers are planned.
#pragma once

#include <array>
#include <cstdint>

namespace syncline::frontend {

/// What the device does in one pass over memory.
struct Work {
  double flops = 0; ///< a multiply and an add count as two
  double bytes = 0; ///< read and written
};

/// Inputs, outputs and samples of a matrix product that a gradient is.
using FactorDims = std::array<std::int64_t, 3>;

} // namespace syncline::frontend
