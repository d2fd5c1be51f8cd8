// CommonPlanner: the decisions of one plan, for another problem of the same gradients.
#pragma once

#include "passes/solver/Planner.h"

namespace syncline::solver {

/// The name of the planner of plans that share their buckets with those of other sizes.
inline constexpr std::string_view commonName = "common";

/// The planner "common": every gradient travels as in `solution` of `problem`, whatever the times.
/// Its plan() returns badInput for a problem whose gradients or schemes differ from these.
/// Precondition: the solution covers the problem.
std::shared_ptr<const Planner> commonPlanner(const Problem &problem, const Solution &solution);

/// The planner by whose name a plan says that it shares its buckets. Its plan() returns badInput,
/// because the buckets come from plans of other sizes.
std::shared_ptr<const Planner> commonPlannerOfPlan();

} // namespace syncline::solver
