// Limits of forms of consistency, which plans, runs and simulations share.
#pragma once

#include <cstdint>

namespace syncline {

/// The most steps between the bounds of DSSP. Its controller tries every lead between the two
/// before it grants one, 3 ns each.
inline constexpr std::int64_t mostStepsApart = 10'000;

} // namespace syncline
