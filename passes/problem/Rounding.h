// Rounding: how far apart two computations of one time may lie. Every rule that compares times, and
// every place that calls a plan optimal, takes its tolerance from here. Pure; thread-safe.
#pragma once

#include <algorithm>
#include <cmath>

namespace syncline::problem {

/// Sums of the same seconds in another order, on another machine, or as a share of the whole: P20,
/// P22 (of the step), P23, S14, S15. Of the larger. What a rule compares must be sums: a difference
/// of sums can leave a residue beside which the true time is nothing.
inline constexpr double sumRounding = 1e-9;

/// The same operations in the same order, as replays are: J and M rules. Of the larger.
inline constexpr double replayRounding = 1e-12;

/// A plan is proved optimal when it ends no later than its bound by more than this part of it.
inline constexpr double proofRounding = 1e-11;

/// Whether two sums differ by more than rounding. What is not finite differs from everything,
/// itself too: no plan may promise it. The floor is for products so small that they are no times.
inline bool differ(double a, double b, double part = sumRounding) {
  constexpr double floor = 1e-18;
  return !std::isfinite(a) || !std::isfinite(b) ||
         std::abs(a - b) > part * std::max(std::abs(a), std::abs(b)) + floor;
}

/// Whether a plan that ends at `finish` is optimal where `bound` is proved.
inline bool isProved(double finish, double bound) { return finish <= bound * (1 + proofRounding); }

} // namespace syncline::problem
