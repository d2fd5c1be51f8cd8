// Rounding: how far apart two computations of one time may lie. Every rule that compares times,
// and every place that calls a plan optimal, takes its tolerance from here. Functions are pure
// and thread-safe.
#pragma once

#include <algorithm>
#include <cmath>

namespace syncline::problem {

/// The tolerance, relative to the larger number, for sums of the same seconds in another order, on
/// another machine, or as a share of the whole (rules P20, P22 with the step as the whole, P23,
/// S14, S15). A rule must compare sums: a difference of sums can leave a residue that is larger
/// than the true time.
inline constexpr double sumRounding = 1e-9;

/// The tolerance, relative to the larger number, for equal operations in equal order, as replays do
/// them (J and M rules).
inline constexpr double replayRounding = 1e-12;

/// The tolerance, relative to the bound, up to which a plan is proved optimal: it ends no later
/// than its bound by more than this.
inline constexpr double proofRounding = 1e-11;

/// Whether two sums differ by more than rounding. A number that is not finite differs from every
/// number, itself included, since no plan may promise it. The floor is for products too small to
/// be times.
inline bool differ(double a, double b, double part = sumRounding) {
  constexpr double floor = 1e-18;
  return !std::isfinite(a) || !std::isfinite(b) ||
         std::abs(a - b) > part * std::max(std::abs(a), std::abs(b)) + floor;
}

/// Whether a plan that ends at `finish` is optimal, given a proved `bound`.
inline bool isProved(double finish, double bound) { return finish <= bound * (1 + proofRounding); }

} // namespace syncline::problem
