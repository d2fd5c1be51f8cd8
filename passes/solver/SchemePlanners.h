// JointPlanners: how other systems choose schemes, on the joint problem and its clock. Each answers
// with one choice per layer (see replay) or badInput, which says what the problem lacks. Sources
// and what is idealised: README.md.
#pragma once

#include "passes/problem/Problem.h"

#include <functional>
#include <span>
#include <vector>

namespace syncline::solver {

/// A rule for merging alone: the ends of the groups (see choicesOfGroups).
using LaneGroups = std::function<std::vector<std::size_t>(const MergeProblem &)>;

/// All gradients through the first lane, grouped by a rule that knows no limits: a group that is
/// larger than the lane's largest message is cut before the layer that makes it so. badInput when a
/// layer may not travel there, or all are more than the lane can hold. Where `system` is not empty
/// only its schemes are used; of a lane with one all-reduce, that: it was asked for by name, or is
/// what was measured. badInput where the lane has none of these.
Result<std::vector<Choice>> choicesInFirstLane(const JointProblem &problem,
                                               const LaneGroups &groups,
                                               std::span<const Scheme> system = {});

/// Poseidon: every layer alone; by factors where they move fewer bytes than servers do (both ways),
/// through the servers elsewhere; biases of layers that go by factors ride.
Result<std::vector<Choice>> poseidonChoices(const JointProblem &problem);

/// Every layer alone, through the servers.
Result<std::vector<Choice>> serverChoices(const JointProblem &problem);

/// Every layer alone; by factors wherever a layer can, through the servers elsewhere, or where
/// there are none by the first lane's first scheme. badInput when no layer can go by factors.
Result<std::vector<Choice>> factorChoices(const JointProblem &problem);

/// Every layer alone: where goesAlone(k), by its fastest solo; else in `lane`, or where that is not
/// allowed or full, in the first other lane that takes it, or solo. Riders of layers that go solo
/// ride. Always sound. Preconditions: valid; goesAlone only where layer k has a solo.
std::vector<Choice> layerwiseChoices(const JointProblem &problem, std::size_t lane,
                                     const std::function<bool(std::size_t)> &goesAlone);

} // namespace syncline::solver
