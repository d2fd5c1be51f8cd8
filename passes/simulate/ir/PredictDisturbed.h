// How long disturbed steps take by a plan in the IR, or by other decisions for its problem.
#pragma once

#include "passes/simulate/Disturbance.h"
#include "passes/simulate/ir/ReadScenario.h"

namespace syncline::simulate {

/// The drawn steps by these decisions, on the plan's own cluster, with one operation for each
/// gradient. With `isOrder` messages reach into the next step. Messages scatter where the module
/// says how. Nothing where the module's steps do not scatter, a step has several micro-batches or
/// clips gradients, or the work would be too much (simulateDisturbed()). Errors: those of
/// SimulatedPlan::withDecisions and of runScenario. Precondition: as for withDecisions.
Result<std::optional<StepSpread>>
predictDisturbed(const SimulatedPlan &plan, const problem::Solution &decisions, bool isOrder);

} // namespace syncline::simulate
