// Replay: the clock that times any choice of schemes and buckets. It decides nothing.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// The solution of one choice per layer. Messages go in the order of their last members, each as
/// soon as that member is ready and the channel is free, by the chosen option or the merge class's
/// fastest. Reconstruction runs in the same order after the backward pass. Linear time.
/// Preconditions: the problem is valid, layers allow their choices, and a later member closes every
/// bucket that is joined (see choicesAreSound).
Solution replay(const Problem &problem, std::span<const Choice> choices);

/// Whether `choices` meet the preconditions of replay and the merge classes' limits and capacity.
bool choicesAreSound(const Problem &problem, std::span<const Choice> choices);

/// The choices that replay turns into this solution. Precondition: it covers each layer once.
std::vector<Choice> choicesOf(const Problem &problem, const Solution &plan);

/// Choices that put all gradients into one merge class, in groups of which group g ends before
/// layer ends[g] (see the planners for merging alone). Precondition: ends ascend strictly from >= 1
/// to the number of layers.
std::vector<Choice> choicesOfGroups(const Problem &problem, std::size_t mergeClass,
                                    std::span<const std::size_t> ends);

} // namespace syncline::solver
