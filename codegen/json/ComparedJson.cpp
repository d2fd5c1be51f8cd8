// Writes the attributes of a prediction that compare plans.
#include "codegen/json/ComparedJson.h"

#include "ir/sync/Disturbed.h"
#include "ir/sync/StepRange.h"
#include "passes/simulate/Disturbance.h"

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace syncline::codegen {

static Json endJson(const sync::RangeEnd &end) {
  return {{"step", end.step},
          {"exposed", end.exposed},
          {"efficiency", end.efficiency},
          {"messages", end.messages},
          {"schemes", end.schemes},
          {"regroups", end.regroups},
          {"overlap", end.crosses ? "step" : "backward"}};
}

Json comparedJson(sync::PredictionOp prediction) {
  Json plans = Json::array();
  for (const sync::DisturbedPlan &plan : sync::disturbedOf(prediction))
    plans.push_back({{"planner", plan.planner},
                     {"overlap", plan.crosses ? "step" : "backward"},
                     {"mean", plan.mean},
                     {"low", plan.low},
                     {"high", plan.high}});
  Json json = Json::object();
  if (!plans.empty())
    json["disturbed"] = {{"steps", simulate::disturbedSteps}, {"plans", plans}};
  if (const auto range = sync::rangeOf(prediction))
    json["range"] = {{"doubt", range->doubt},
                     {"runs", range->runs},
                     {"fast", endJson(range->fast)},
                     {"slow", endJson(range->slow)}};
  return json;
}

} // namespace syncline::codegen
