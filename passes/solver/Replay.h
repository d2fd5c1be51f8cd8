// JointReplay: the clock that times any choice of schemes and buckets. It decides nothing.
#pragma once

#include "passes/problem/Problem.h"

#include <cstddef>
#include <span>
#include <vector>

namespace syncline::solver {

/// Times one choice per layer: messages go in the order of their last members, each as soon as that
/// one is ready and the channel is free, by the option chosen or the lane's fastest; rebuilding
/// runs in the same order once the backward pass is over. Linear time. Preconditions: the problem
/// is valid, the choices are ones the layers allow, and every bucket that is joined is closed by a
/// later member (see choicesAreSound).
JointPlan replay(const JointProblem &problem, std::span<const Choice> choices);

/// Whether replay's preconditions on `choices` hold, the lanes' limits and capacity included.
bool choicesAreSound(const JointProblem &problem, std::span<const Choice> choices);

/// The choices that replay turns into this plan. Precondition: the plan covers each layer once.
std::vector<Choice> choicesOf(const JointProblem &problem, const JointPlan &plan);

/// All gradients in one lane, cut into groups that end before layers ends[g] (see groupEnds of the
/// planners for merging alone). Precondition: ends ascend strictly from >= 1 to the layer count.
std::vector<Choice> choicesOfGroups(const JointProblem &problem, std::size_t lane,
                                    std::span<const std::size_t> ends);

} // namespace syncline::solver
