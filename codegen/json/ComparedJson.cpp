// Writes the attributes of a prediction that compare plans.
#include "codegen/json/ComparedJson.h"

#include "ir/sync/Disturbed.h"
#include "passes/simulate/Disturbance.h"

#include <nlohmann/json.hpp>

using Json = nlohmann::json;

namespace syncline::codegen {

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
  return json;
}

} // namespace syncline::codegen
