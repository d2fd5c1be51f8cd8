// Predicts a plan on a slower or a faster device.
#include "passes/simulate/ir/PredictSlowed.h"

#include "ir/FirstOf.h"
#include "ir/cluster/SpecFields.h"
#include "ir/sync/Sync.h"
#include "passes/simulate/Prediction.h"
#include "passes/simulate/ir/ReadScenario.h"

using namespace mlir;

namespace syncline::simulate {

Result<std::optional<SlowedStep>> predictSlowed(ModuleOp module, double factor) {
  SYNCLINE_TRY_GET(plan, SimulatedPlan::create(module));
  if (plan->microBatches() > 1 || firstOf<sync::ProblemOp>(module).getConsistency())
    return std::optional<SlowedStep>();
  SYNCLINE_TRY_GET(scenario, plan->asPlanned(cluster::slowedBy(plan->problem().cluster(), factor)));
  SYNCLINE_TRY_GET(prediction, predictStep(std::move(*scenario)));
  if (plan->clips()) // the norm's message, and what is gathered behind it
    prediction->messages.resize(plan->decisions().messages.size());
  SlowedStep slowed{.step = prediction->step};
  for (const PredictedMessage &message : prediction->messages)
    slowed.exposed += message.exposed;
  slowed.efficiency = slowed.step > 0 ? factor * plan->aloneSeconds(1) / slowed.step : 0;
  return std::optional(slowed);
}

} // namespace syncline::simulate
