// Takes a step apart into its micro-batches.
#include "frontend/report/MicroBatchText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using files::formatSeconds;
using nlohmann::json;

std::int64_t microBatchesOf(const json &plan) { return plan.value("accumulate", std::int64_t{1}); }

double lastMicroBatchSeconds(const json &plan) {
  const json &predicted = plan.at("predicted");
  const double step = predicted.at("step");
  const std::int64_t microBatches = microBatchesOf(plan);
  return microBatches == 1 ? step
                           : std::max(step - static_cast<double>(microBatches - 1) *
                                                 predicted.at("micro_batch").get<double>(),
                                      0.0);
}

/// "1 micro-batch", "3 micro-batches"
static std::string counted(std::int64_t microBatches) {
  return std::to_string(microBatches) + (microBatches == 1 ? " micro-batch" : " micro-batches");
}

std::string stepParts(const json &plan) {
  const std::int64_t microBatches = microBatchesOf(plan);
  if (microBatches == 1)
    return ":";
  return ": " + counted(microBatches - 1) + " of " +
         formatSeconds(plan.at("predicted").at("micro_batch")) + (microBatches > 2 ? " each" : "") +
         " and a last one of " + formatSeconds(lastMicroBatchSeconds(plan)) + ". In the last one";
}

std::string microBatchText(const json &plan) {
  const std::int64_t microBatches = microBatchesOf(plan);
  if (microBatches == 1)
    return "";
  std::string gathered;
  for (const Scheme scheme : allSchemes())
    if (isGathered(scheme) && std::ranges::any_of(plan.at("buckets"), [&](const json &bucket) {
          return bucket.at("scheme") == schemeName(scheme);
        }))
      gathered += (gathered.empty() ? "" : " and ") + std::string(schemeName(scheme));
  const json gathering = plan.at("predicted").value("gathering", json());
  return "a step adds up the gradients of " + std::to_string(microBatches) +
         " micro-batches: sums travel with the last one" +
         (gathered.empty() ? "" : ", messages by " + gathered + " with each") +
         (gathering.is_number()
              ? "; with the messages that are best for steps of one batch it would take " +
                    formatSeconds(gathering)
              : "") +
         "\n";
}

std::string earlierMicroBatches(const json &plan) {
  const std::int64_t microBatches = microBatchesOf(plan);
  if (microBatches == 1)
    return "";
  return ", behind " + counted(microBatches - 1) + " that " +
         (microBatches == 2 ? "takes " : "take ") +
         formatSeconds(plan.at("predicted").at("planner").at("earlier")) + " or more";
}

} // namespace syncline::report
