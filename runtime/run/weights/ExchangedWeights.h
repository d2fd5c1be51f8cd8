// The weights of a rank that travel between its steps, and the arithmetic where they lie.
#pragma once

#include "runtime/core/WeightArithmetic.h"

#include <span>

namespace syncline::run {

/// Both live as long as the executable.
struct ExchangedWeights {
  core::WeightArithmetic &by;
  std::span<float> all; ///< the space of parameters, in the executable's memory
};

} // namespace syncline::run
