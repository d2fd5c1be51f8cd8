// JointPlanners: how other systems choose schemes, on the joint problem and its clock. Each answers
// with one choice per layer (see replay). Sources and what is idealised: README.md.
#pragma once

#include "passes/solver/joint/JointSolver.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::solver {

/// For help texts.
struct JointPlannerUsage {
  std::string_view name;
  std::string_view text;
};

/// Every planner, "optimal" first: "optimal", "poseidon", "ps", "sfb".
std::span<const JointPlannerUsage> jointPlannerUsages();

/// The named planner's plan, with the proven bound beside it. badUsage for an unknown name;
/// badInput when the planner needs a scheme that the problem does not offer or servers cannot hold
/// what it would give them. Precondition: the problem is valid.
Result<JointResult> planJointly(std::string_view planner, const JointProblem &problem,
                                const JointOptions &options = {});

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
