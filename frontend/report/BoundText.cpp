// Compares a plan with its bound.
#include "frontend/report/BoundText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"
#include "passes/problem/Rounding.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

/// How far the plan is from the bound, which holds for one channel: "gap 2.00 %", "optimal, proved
/// by the certificate", or why neither is known.
static std::string verdictText(const nlohmann::json &plan) {
  if (const std::int64_t channels = channelsOf(plan); channels > 1)
    return "so says a model of one channel; of the " + std::to_string(channels) +
           " on which this plan's messages take turns no bound is known";
  return plan.at("optimal").get<bool>()
             ? "optimal, proved by the certificate"
             : "gap " + percent(plan.at("predicted").at("planner").at("gap"));
}

/// A tree's messages are simulated segment by segment, which takes no longer than the planner's
/// formula says.
static bool isShorterByTrees(const nlohmann::json &plan) {
  const nlohmann::json &predicted = plan.at("predicted"), &planner = predicted.at("planner");
  const double bound = planner.at("bound").get<double>() + planner.value("earlier", 0.0);
  return channelsOf(plan) == 1 &&
         predicted.at("step").get<double>() < bound * (1 - problem::sumRounding) &&
         std::ranges::any_of(
             plan.at("buckets"),
             [](const nlohmann::json &bucket) { return bucket.at("scheme") == "tree"; });
}

std::string boundText(const nlohmann::json &plan) {
  const nlohmann::json &planner = plan.at("predicted").at("planner");
  // Up to rounding the bound is no later than the plan's own end.
  const double bound =
      std::min(planner.at("bound").get<double>(), planner.at("finish").get<double>());
  return files::formatSeconds(bound) + earlierMicroBatches(plan) + ": " + verdictText(plan) + "\n" +
         (isShorterByTrees(plan)
              ? "the predicted step is shorter, since messages are simulated there, and the "
                "planner's formula for a tree's may be longer\n"
              : "");
}

} // namespace syncline::report
