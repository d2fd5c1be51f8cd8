// Plans compared by disturbed steps, in words.
#include "frontend/report/DisturbedText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

namespace syncline::report {
namespace {

using Json = nlohmann::json;

bool crosses(const Json &plan) { return plan.at("overlap") == "step"; }

std::string seconds(const Json &plan, const char *key) {
  return files::formatSeconds(plan.at(key), 4);
}

/// "4.021 s in the mean (10 % up to 3.9 s, 90 % up to 4.5 s)".
std::string spread(const Json &plan) {
  return seconds(plan, "mean") + " in the mean (10 % of them up to " + seconds(plan, "low") +
         ", 90 % up to " + seconds(plan, "high") + ")";
}

/// The plan's planner and overlap in words.
std::string nameOf(const Json &plan) {
  if (!crosses(plan))
    return "barrier: a step waits for all of its messages";
  const std::string planner = plan.at("planner");
  constexpr std::string_view inflated = "inflated:", whole = ":whole";
  if (!planner.starts_with(inflated))
    return "order as if no step were disturbed";
  std::string percent = planner.substr(inflated.size());
  const bool isWhole = percent.ends_with(whole);
  if (isWhole)
    percent.resize(percent.size() - whole.size());
  return "order for messages " + printable(percent) + " % longer" +
         (isWhole ? ", without halves" : "");
}

/// The plans that were compared; null where none were.
const Json *plansOf(const Json &predicted) {
  const auto found = predicted.find("disturbed");
  return found == predicted.end() ? nullptr : &found->at("plans");
}

} // namespace

std::string disturbedText(const Json &predicted) {
  const Json *plans = plansOf(predicted);
  if (!plans)
    return "";
  const Json &kept = plans->at(0);
  std::string text = "in " + predicted.at("disturbed").at("steps").dump() +
                     " steps drawn from the profile's scatter a step takes " + spread(kept);
  for (const Json &other : *plans)
    if (crosses(other) != crosses(kept)) {
      text +=
          std::string("; ") + (crosses(other) ? "without" : "with") + " a barrier " + spread(other);
      break;
    }
  return text + "; the bound below is that of undisturbed steps\n";
}

std::string disturbedWhy(const Json &predicted) {
  const Json *plans = plansOf(predicted);
  if (!plans)
    return "";
  Table table({{"plan"},
               {"mean", Align::right},
               {"10 %", Align::right},
               {"90 %", Align::right},
               {"longer", Align::right}});
  const double kept = plans->at(0).at("mean");
  for (const Json &plan : *plans) {
    const double mean = plan.at("mean");
    table.addRow({nameOf(plan), seconds(plan, "mean"), seconds(plan, "low"), seconds(plan, "high"),
                  &plan == &plans->at(0) ? "kept" : percent(kept > 0 ? mean / kept - 1 : 0)});
  }
  return "\nplans compared in " + predicted.at("disturbed").at("steps").dump() +
         " steps drawn from the profile's scatter; equal orders count once:\n" + table.toString();
}

} // namespace syncline::report
