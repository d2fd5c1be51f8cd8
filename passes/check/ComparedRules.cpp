// Rule P22k: how long drawn steps take by the plan.
#include "passes/check/PlanFacts.h"

#include "ir/FirstOf.h"
#include "ir/sync/Disturbed.h"
#include "passes/problem/Rounding.h"
#include "passes/simulate/ir/PredictDisturbed.h"

using namespace mlir;

namespace syncline::check {

LogicalResult checkDisturbed(ModuleOp module) {
  auto claimed = firstOf<sync::PredictionOp>(module);
  const auto plans = claimed ? sync::disturbedOf(claimed) : std::vector<sync::DisturbedPlan>();
  if (plans.empty())
    return success();
  const auto refuse = [&] { return claimed.emitOpError("P22k: "); };
  const Result<simulate::SimulatedPlan> plan = simulate::SimulatedPlan::create(module);
  if (!plan)
    return refuse() << "nothing to compare with: " << plan.status().message();
  const bool crosses = plan->problem().hasOrder();
  const auto spread = simulate::predictDisturbed(*plan, plan->decisions(), crosses);
  if (!spread)
    return refuse() << "nothing to compare with: " << spread.status().message();
  if (!*spread)
    return refuse() << "expected no '" << sync::disturbedAttr << "' here";
  const sync::DisturbedPlan &own = plans.front();
  if (own.planner != plan->planner() || own.crosses != crosses)
    return refuse() << "expected the plan itself first";
  for (auto [what, got, expected] : {std::tuple("mean", own.mean, (*spread)->mean),
                                     {"low", own.low, (*spread)->low},
                                     {"high", own.high, (*spread)->high}})
    if (problem::differ(got, expected))
      return refuse() << "expected '" << what << "' " << expected << " s as in virtual time, got "
                      << got << " s";
  return success();
}

} // namespace syncline::check
