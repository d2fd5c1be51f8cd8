// Rules P22k and P22l: how long drawn steps take by the plan, and the range of its step.
#include "passes/check/PlanFacts.h"

#include "ir/FirstOf.h"
#include "ir/sync/Disturbed.h"
#include "ir/sync/StepRange.h"
#include "passes/problem/Rounding.h"
#include "passes/simulate/ir/PredictDisturbed.h"
#include "passes/simulate/ir/PredictSlowed.h"

#include <cmath>

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

LogicalResult checkRange(ModuleOp module) {
  auto claimed = firstOf<sync::PredictionOp>(module);
  const auto range = claimed ? sync::rangeOf(claimed) : std::optional<sync::StepRange>();
  if (!range)
    return success();
  const auto refuse = [&] { return claimed.emitOpError("P22l: "); };
  for (auto [name, end, factor] : {std::tuple("fast", &range->fast, 1 - range->doubt),
                                   {"slow", &range->slow, 1 + range->doubt}}) {
    const auto slowed = simulate::predictSlowed(module, factor);
    if (!slowed)
      return refuse() << "nothing to compare with: " << slowed.status().message();
    if (!*slowed)
      return refuse() << "expected no '" << sync::rangeAttr << "' here";
    // Waiting is a difference of times as long as the step.
    for (auto [what, got, expected, whole] :
         {std::tuple("step", end->step, (*slowed)->step, (*slowed)->step),
          {"exposed", end->exposed, (*slowed)->exposed, (*slowed)->step},
          {"efficiency", end->efficiency, (*slowed)->efficiency, (*slowed)->efficiency}})
      if (std::abs(got - expected) > problem::sumRounding * whole)
        return refuse() << "expected '" << what << "' " << expected << " at the end '" << name
                        << "' as in virtual time, got " << got;
  }
  return success();
}

} // namespace syncline::check
