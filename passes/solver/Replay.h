// Replay: the clock that times any choice of schemes and buckets. It decides nothing.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

using namespace problem;

/// Times one choice per layer: messages go in the order of their last members, each as soon as that
/// one is ready and the channel is free, by the option chosen or the merge class's fastest;
/// reconstruction runs in the same order once the backward pass is over. Linear time.
/// Preconditions: the problem is valid, the choices are ones the layers allow, and every bucket
/// that is joined is closed by a later member (see choicesAreSound).
Solution replay(const Problem &problem, std::span<const Choice> choices);

/// Whether replay's preconditions on `choices` hold, the merge classes' limits and capacity
/// included.
bool choicesAreSound(const Problem &problem, std::span<const Choice> choices);

/// The choices that replay turns into this plan. Precondition: the plan covers each layer once.
std::vector<Choice> choicesOf(const Problem &problem, const Solution &plan);

/// All gradients in one merge class, cut into groups that end before layers ends[g] (see groupEnds
/// of the planners for merging alone). Precondition: ends ascend strictly from >= 1 to the layer
/// count.
std::vector<Choice> choicesOfGroups(const Problem &problem, std::size_t mergeClass,
                                    std::span<const std::size_t> ends);

} // namespace syncline::solver
