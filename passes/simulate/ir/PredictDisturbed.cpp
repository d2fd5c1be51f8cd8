// Simulates decisions in drawn steps.
#include "passes/simulate/ir/PredictDisturbed.h"

#include "ir/cluster/MessageScatter.h"

namespace syncline::simulate {

Result<std::optional<StepSpread>>
predictDisturbed(const SimulatedPlan &plan, const problem::Solution &decisions, bool isOrder) {
  const merge::PlannedProblem &problem = plan.problem();
  if (plan.clips() || plan.microBatches() > 1 || !plan.planModule()->hasAttr(cluster::scatterAttr))
    return std::optional<StepSpread>();
  SYNCLINE_TRY_GET(scenario,
                   plan.withDecisions(problem.asPlanned(), decisions,
                                      {.cluster = problem.cluster(), .isOrder = isOrder}));
  return simulateDisturbed(std::move(*scenario), cluster::messageScatterOf(plan.planModule()));
}

} // namespace syncline::simulate
