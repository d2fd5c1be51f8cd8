// Writes the range of the step in two lines.
#include "frontend/report/RangeText.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/OrderText.h"
#include "frontend/report/PlanText.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace syncline::report {
namespace {

using Json = nlohmann::json;

/// What a plan for this end has that the plan has not; empty if nothing.
std::string changes(const Json &plan, const Json &end) {
  std::string text;
  const auto add = [&](const std::string &change) { text += (text.empty() ? "" : ", ") + change; };
  const bool crosses = end.at("overlap") == "step";
  if (crosses != hasOrder(plan))
    add(crosses ? "messages that reach into the next step" : "steps that wait for all messages");
  if (const std::int64_t schemes = end.at("schemes"); schemes > 0)
    add(files::counted(schemes, "gradient") + " by another scheme");
  if (end.at("regroups").get<bool>()) {
    const std::size_t messages = end.at("messages"), own = plan.at("buckets").size();
    add(files::counted(messages, "message") +
        (messages == own ? " of other gradients" : " in place of " + std::to_string(own)));
  }
  return text;
}

} // namespace

std::string rangeText(const Json &plan) {
  const Json &predicted = plan.at("predicted");
  const auto found = predicted.find("range");
  if (found == predicted.end())
    return "";
  const Json &fast = found->at("fast"), &slow = found->at("slow");
  const auto seconds = [](const Json &end, const char *key) {
    return files::formatSeconds(end.at(key));
  };
  const std::string doubt =
      std::to_string(std::llround(100 * found->at("doubt").get<double>())) + " %";
  std::string text =
      "if computation takes " + doubt + " less or more (predictions of nine of ten of " +
      files::counted(found->at("runs"), "published run") + " were off by no more): step " +
      seconds(fast, "step") + " to " + seconds(slow, "step") + ", exposed " +
      seconds(fast, "exposed") + " to " + seconds(slow, "exposed") + ", efficiency " +
      percent(fast.at("efficiency")) + " to " + percent(slow.at("efficiency")) + "\n";
  const std::string less = changes(plan, fast), more = changes(plan, slow);
  if (less.empty() && more.empty())
    return text + "within that range the plan would be the same\n";
  text += "a plan would have ";
  if (!less.empty())
    text += "for " + doubt + " less: " + less;
  if (!more.empty())
    text += (less.empty() ? "for " : "; for ") + doubt + " more: " + more;
  return text + "\n";
}

} // namespace syncline::report
