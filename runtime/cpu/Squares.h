// The sum of squares that the norm of all gradients needs.
#pragma once

#include <cstdint>

namespace syncline::cpu {

/// The sum of the n elements' squares, in double and in an order that depends on n alone. Runs on
/// the calling thread's OpenMP threads.
double squaresOf(const float *gradients, std::int64_t n);

} // namespace syncline::cpu
