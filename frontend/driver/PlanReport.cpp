// A plan as text for people.
#include "frontend/driver/PlanReport.h"

#include "frontend/driver/PlanText.h"
#include "frontend/driver/Table.h"
#include "frontend/files/FormatUnits.h"

#include <algorithm>

using namespace syncline;
using namespace syncline::driver;
using files::formatBytes;
using files::formatSeconds;

/// The part of a bucket's time on the channel during which nothing is left to compute.
static double exposedSeconds(const nlohmann::json &bucket, double backwardEnd) {
  double start = bucket.at("start"), end = bucket.at("end");
  return std::max(0.0, end - std::max(start, backwardEnd));
}

/// "1 server", "4 ranks".
static std::string counted(std::int64_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

static std::string header(const nlohmann::json &plan) {
  std::string text = "plan " + printable(plan.at("name")) + ", planner " +
                     printable(plan.at("planner")) + ", " +
                     counted(plan.at("ranks").get<std::int64_t>(), "rank");
  if (std::int64_t servers = plan.at("servers"); servers > 0)
    text += " and " + counted(servers, "server");
  if (plan.at("batch").is_number())
    text += ", batch " + std::to_string(plan.at("batch").get<std::int64_t>()) + " a rank";
  const nlohmann::json &asked = plan.at("asked");
  for (std::size_t i = 0; i < asked.size(); ++i)
    text += (i == 0 ? ", asked for " : " and ") + printable(asked[i]);
  if (!plan.at("runnable").get<bool>())
    text += ", from a layer trace: to read, not to run";
  return text + "\n\n";
}

/// ", rebuilding at 938 ms" where gradients are rebuilt from factors once all messages have ended.
static std::string rebuilding(const nlohmann::json &plan) {
  double last = 0;
  for (const nlohmann::json &bucket : plan.at("buckets"))
    last = std::max(last, bucket.at("rebuilt").get<double>());
  return last > plan.at("predicted").at("communication_end").get<double>()
             ? ", rebuilding at " + formatSeconds(last)
             : "";
}

static std::string totals(const nlohmann::json &plan) {
  const nlohmann::json &predicted = plan.at("predicted");
  double step = predicted.at("step"), exposed = predicted.at("exposed");
  double bound = predicted.at("bound"), gap = predicted.at("gap");
  std::int64_t bytes = 0;
  for (const nlohmann::json &bucket : plan.at("buckets"))
    bytes += bucket.at("bytes").get<std::int64_t>();
  std::string text =
      "\n" + counted(plan.at("buckets").size(), "message") + ", " + formatBytes(bytes) +
      " of gradients, " + formatTraffic(predicted.at("traffic")) +
      " to and from a node\npredicted step " + formatSeconds(step) + ": backward ends at " +
      formatSeconds(predicted.at("backward_end")) + ", communication at " +
      formatSeconds(predicted.at("communication_end")) + rebuilding(plan) + ", exposed " +
      formatSeconds(exposed) + " (" + percent(step > 0 ? exposed / step : 0) + ")\n";
  text += plan.at("asked").empty() ? "no plan" : "no plan with the schemes asked for";
  text += " finishes before " + formatSeconds(bound) + ": ";
  text += plan.at("optimal").get<bool>() ? "optimal, proved by the certificate\n"
                                         : "gap " + percent(gap) + "\n";
  return text;
}

/// Whether some gradient exists only a while after its message: it is rebuilt from factors.
static bool isRebuilt(const nlohmann::json &bucket) {
  return bucket.at("rebuilt").get<double>() > bucket.at("end").get<double>();
}

static std::string report(const nlohmann::json &plan, bool allMembers) {
  std::vector<Table::Column> columns{{"bucket", Align::right},  {"members"},
                                     {"bytes", Align::right},   {"scheme"},
                                     {"traffic", Align::right}, {"ready", Align::right},
                                     {"start", Align::right},   {"end", Align::right},
                                     {"exposed", Align::right}};
  const nlohmann::json &buckets = plan.at("buckets");
  const bool rebuilds = std::ranges::any_of(buckets, isRebuilt);
  if (rebuilds)
    columns.push_back({"rebuilt", Align::right});
  const std::size_t width = columns.size();
  Table table(std::move(columns));
  double backwardEnd = plan.at("predicted").at("backward_end");
  for (const nlohmann::json &bucket : buckets) {
    std::vector<std::string> row{std::to_string(bucket.at("id").get<std::int64_t>()),
                                 memberSummary(bucket.at("members")),
                                 formatBytes(bucket.at("bytes")),
                                 printable(bucket.at("scheme")),
                                 formatTraffic(bucket.at("traffic")),
                                 formatSeconds(bucket.at("ready")),
                                 formatSeconds(bucket.at("start")),
                                 formatSeconds(bucket.at("end")),
                                 formatSeconds(exposedSeconds(bucket, backwardEnd))};
    if (rebuilds)
      row.push_back(isRebuilt(bucket) ? formatSeconds(bucket.at("rebuilt")) : "");
    table.addRow(std::move(row));
    if (allMembers && bucket.at("members").size() > 1)
      for (const nlohmann::json &member : bucket.at("members")) {
        std::vector<std::string> line(width);
        line[1] = "  " + printable(member);
        table.addRow(std::move(line));
      }
  }
  return header(plan) + table.toString() + totals(plan);
}

Result<std::string> syncline::driver::planReport(const nlohmann::json &plan, bool allMembers) {
  return guarded([&] { return report(plan, allMembers); });
}
