// Takes a step apart into its passes.
#include "frontend/report/PassesText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "syncline/Scheme.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using files::formatSeconds;
using nlohmann::json;

std::int64_t passesOf(const json &plan) { return plan.value("accumulate", std::int64_t{1}); }

double lastPassSeconds(const json &plan) {
  const json &predicted = plan.at("predicted");
  const double step = predicted.at("step");
  const std::int64_t passes = passesOf(plan);
  return passes == 1
             ? step
             : std::max(step - static_cast<double>(passes - 1) * predicted.at("pass").get<double>(),
                        0.0);
}

/// "1 pass", "3 passes"
static std::string counted(std::int64_t passes) {
  return std::to_string(passes) + (passes == 1 ? " pass" : " passes");
}

std::string stepParts(const json &plan) {
  const std::int64_t passes = passesOf(plan);
  if (passes == 1)
    return ":";
  return ": " + counted(passes - 1) + " of " + formatSeconds(plan.at("predicted").at("pass")) +
         (passes > 2 ? " each" : "") + " and a last one of " +
         formatSeconds(lastPassSeconds(plan)) + ". In the last one";
}

std::string passesText(const json &plan) {
  const std::int64_t passes = passesOf(plan);
  if (passes == 1)
    return "";
  std::string gathered;
  for (const Scheme scheme : allSchemes())
    if (isGathered(scheme) && std::ranges::any_of(plan.at("buckets"), [&](const json &bucket) {
          return bucket.at("scheme") == schemeName(scheme);
        }))
      gathered += (gathered.empty() ? "" : " and ") + std::string(schemeName(scheme));
  const json gathering = plan.at("predicted").value("gathering", json());
  return "a step adds up the gradients of " + std::to_string(passes) +
         " batches, one pass each: sums travel in the last pass" +
         (gathered.empty() ? "" : ", messages by " + gathered + " in each") +
         (gathering.is_number()
              ? "; with the messages that are best for steps of one batch it would take " +
                    formatSeconds(gathering)
              : "") +
         "\n";
}

std::string earlierPasses(const json &plan) {
  const std::int64_t passes = passesOf(plan);
  if (passes == 1)
    return "";
  return ", behind " + counted(passes - 1) + " that " + (passes == 2 ? "takes " : "take ") +
         formatSeconds(plan.at("predicted").at("planner").at("earlier")) + " or more";
}

} // namespace syncline::report
