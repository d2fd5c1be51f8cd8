// Replay: the clock that times any grouping. It decides nothing.
#pragma once

#include "passes/solver/MergeProblem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

/// Times the grouping whose g-th group ends before layer ends[g]: in order, each message starts as
/// soon as its last member is ready and the channel is free, by the fastest option for its size.
/// Preconditions: the problem is valid; `ends` ascends strictly from at least 1 to the layer count
/// (empty exactly when there are no layers). Linear time.
Solution replay(const MergeProblem &problem, std::span<const std::size_t> ends);

/// The `ends` of a solution's groups, the inverse of replay.
std::vector<std::size_t> groupEnds(const Solution &solution);

} // namespace syncline::solver
