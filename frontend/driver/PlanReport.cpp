// A plan as text for people.
#include "frontend/driver/PlanReport.h"

#include "frontend/driver/Table.h"
#include "frontend/files/FormatUnits.h"

#include <algorithm>
#include <cstdio>

using namespace syncline;
using namespace syncline::driver;
using files::formatBytes;
using files::formatSeconds;

namespace {
/// Thrown inside this file only.
struct SchemaError {
  std::string message;
};
} // namespace

static std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * fraction);
  return text;
}

/// Names come from models: control characters in them would reach the terminal.
static std::string printable(const nlohmann::json &name) {
  auto text = name.get<std::string>();
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

/// "fc.weight", "conv1.weight .. bn1.bias (3)".
static std::string summary(const nlohmann::json &members) {
  if (!members.is_array() || members.empty())
    throw SchemaError{"a bucket has no members"};
  auto first = printable(members.front()), last = printable(members.back());
  if (members.size() == 1)
    return first;
  return first + " .. " + last + " (" + std::to_string(members.size()) + ")";
}

/// The part of a bucket's time on the channel during which nothing is left to compute.
static double exposedSeconds(const nlohmann::json &bucket, double backwardEnd) {
  double start = bucket.at("start"), end = bucket.at("end");
  return std::max(0.0, end - std::max(start, backwardEnd));
}

static std::string header(const nlohmann::json &plan) {
  std::string text = "plan " + printable(plan.at("name")) + ", planner " +
                     printable(plan.at("planner")) + ", " +
                     std::to_string(plan.at("ranks").get<std::int64_t>()) + " ranks";
  if (plan.at("batch").is_number())
    text += ", batch " + std::to_string(plan.at("batch").get<std::int64_t>()) + " a rank";
  if (!plan.at("runnable").get<bool>())
    text += ", from a layer trace: to read, not to run";
  return text + "\n\n";
}

static std::string totals(const nlohmann::json &plan) {
  const nlohmann::json &predicted = plan.at("predicted");
  double step = predicted.at("step"), exposed = predicted.at("exposed");
  double bound = predicted.at("bound"), gap = predicted.at("gap");
  std::int64_t bytes = 0;
  for (const nlohmann::json &bucket : plan.at("buckets"))
    bytes += bucket.at("bytes").get<std::int64_t>();
  std::string text = "\n" + std::to_string(plan.at("buckets").size()) + " messages, " +
                     formatBytes(bytes) + " of gradients\npredicted step " + formatSeconds(step) +
                     ": backward ends at " + formatSeconds(predicted.at("backward_end")) +
                     ", communication at " + formatSeconds(predicted.at("communication_end")) +
                     ", exposed " + formatSeconds(exposed) + " (" +
                     percent(step > 0 ? exposed / step : 0) + ")\n";
  text += "no merging ends communication before " + formatSeconds(bound) + ": ";
  text += plan.at("optimal").get<bool>() ? "optimal, proved by the certificate\n"
                                         : "gap " + percent(gap) + "\n";
  return text;
}

static std::string report(const nlohmann::json &plan, bool allMembers) {
  Table table({{"bucket", Align::right},
               {"members"},
               {"bytes", Align::right},
               {"scheme"},
               {"ready", Align::right},
               {"start", Align::right},
               {"end", Align::right},
               {"exposed", Align::right}});
  double backwardEnd = plan.at("predicted").at("backward_end");
  for (const nlohmann::json &bucket : plan.at("buckets")) {
    table.addRow({std::to_string(bucket.at("id").get<std::int64_t>()),
                  summary(bucket.at("members")), formatBytes(bucket.at("bytes")),
                  printable(bucket.at("scheme")), formatSeconds(bucket.at("ready")),
                  formatSeconds(bucket.at("start")), formatSeconds(bucket.at("end")),
                  formatSeconds(exposedSeconds(bucket, backwardEnd))});
    if (allMembers && bucket.at("members").size() > 1)
      for (const nlohmann::json &member : bucket.at("members"))
        table.addRow({"", "  " + printable(member), "", "", "", "", "", ""});
  }
  return header(plan) + table.toString() + totals(plan);
}

syncline::Result<std::string> syncline::driver::planReport(const nlohmann::json &plan,
                                                           bool allMembers) {
  try {
    return report(plan, allMembers);
  } catch (const SchemaError &error) {
    return Status::badInput("the plan does not follow its schema: " + error.message);
  } catch (const nlohmann::json::exception &error) {
    // "[json.exception.out_of_range.403] key 'ranks' not found"
    const std::string text = error.what();
    const std::size_t end = text.find("] ");
    return Status::badInput("the plan does not follow its schema: " +
                            (end == std::string::npos ? text : text.substr(end + 2)));
  }
}
