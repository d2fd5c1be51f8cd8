// Consistencies as text, CSV and JSON.
#include "frontend/report/ConsistencyReport.h"

#include "frontend/files/Csv.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"
#include "frontend/report/Throughput.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace syncline::report {

using files::formatSeconds;
using sweep::ConsistencyPoint;
using sweep::ConsistencySweep;

namespace {

std::string number(double value) { return files::formatNumber(value, 9); }

/// Steps in the mean: "1.37".
std::string steps(double mean) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", mean);
  return text;
}

constexpr const char *columnsMeaning =
    "step: in the mean over ranks; waits: the part of all ranks' time in which they do not "
    "compute; "
    "stale: by how many\nsteps of another rank the weights lag with which a step computes, in the "
    "mean, at most in 95 % of all steps, and\nat most; lead: by how many steps a rank was ahead of "
    "the slowest; traffic: what a node sends and receives a step;\nservers: the part of their "
    "bandwidth that is used, and of the time in which a shard is locked to be added to\n";

/// Slower steps first do not count; of equally fast forms the one that was named first.
const ConsistencyPoint &fastestOf(const ConsistencySweep &sweep) {
  return *std::ranges::min_element(sweep.points, {}, &ConsistencyPoint::step);
}

/// What one trades against the least stale one of the others.
std::string tradeText(const ConsistencySweep &sweep) {
  const ConsistencyPoint &fast = fastestOf(sweep);
  const auto meanOf = [](const ConsistencyPoint &point) { return point.staleness.mean; };
  const ConsistencyPoint &fresh = *std::ranges::min_element(sweep.points, {}, meanOf);
  std::string text;
  if (sweep.points.size() > 1 && &fast == &fresh)
    text = fast.form + " is the fastest, and nothing is less stale\n";
  else if (sweep.points.size() > 1)
    text = fast.form + " is the fastest: a step takes " + formatSeconds(fast.step, 4) + ", " +
           steps(fresh.step / fast.step) + " times as fast as " + fresh.form +
           "; its steps compute with weights that lag " + steps(fast.staleness.mean) +
           " steps in place of " + steps(fresh.staleness.mean) + "\n";
  return text +
         "how staleness changes the loss is measured by training; nothing here predicts it\n";
}

std::string serversText(const ConsistencyPoint &point) {
  return point.hasServers ? percent(point.serverLoad) + ", " + percent(point.lockLoad) : "-";
}

} // namespace

std::string consistencyTable(const ConsistencySweep &sweep) {
  Table table({{"consistency"},
               {"step", Align::right},
               {"samples/s", Align::right},
               {"waits", Align::right},
               {"stale", Align::right},
               {"95 %", Align::right},
               {"most", Align::right},
               {"lead", Align::right},
               {"traffic", Align::right},
               {"servers", Align::right}});
  for (const ConsistencyPoint &point : sweep.points)
    table.addRow({point.form, formatSeconds(point.step, 4),
                  point.samplesPerSecond() > 0 ? formatRate(point.samplesPerSecond()) : "-",
                  percent(point.waiting), steps(point.staleness.mean),
                  std::to_string(point.staleness.most95), std::to_string(point.staleness.largest),
                  std::to_string(point.largestLead), formatTraffic(point.traffic),
                  serversText(point)});
  std::string refused;
  for (const sweep::RefusedForm &form : sweep.refused)
    refused += "left out: " + form.form + ": " + form.reason + "\n";
  return table.toString() + refused + columnsMeaning + "\n" + tradeText(sweep);
}

std::string consistencyReport(const ConsistencySweep &sweep) {
  const ConsistencyPoint &point = sweep.points.front();
  constexpr std::size_t mostRows = 32;
  Table table({{"rank", Align::right}, {"steps/s", Align::right}, {"waits", Align::right}});
  const std::size_t shown = std::min(point.rates.size(), mostRows);
  for (std::size_t rank = 0; rank < shown; ++rank)
    table.addRow({std::to_string(rank), formatRate(point.rates[rank]), percent(point.waits[rank])});
  std::string text = consistencyTable(sweep) + "\n" + table.toString();
  if (shown < point.rates.size())
    text += ".. and " + std::to_string(point.rates.size() - shown) + " ranks more\n";
  return text;
}

std::string consistencyCsv(const ConsistencySweep &sweep) {
  std::string text = "consistency,step_s,samples_per_s,waiting_share,staleness_mean_steps,"
                     "staleness_95_steps,staleness_most_steps,lead_most_steps,traffic_bytes,"
                     "server_load,lock_load,left_out\n";
  for (const ConsistencyPoint &point : sweep.points) {
    const double rate = point.samplesPerSecond();
    text += "\"" + point.form + "\"," + number(point.step) + "," + (rate > 0 ? number(rate) : "") +
            "," + number(point.waiting) + "," + number(point.staleness.mean) + "," +
            std::to_string(point.staleness.most95) + "," + std::to_string(point.staleness.largest) +
            "," + std::to_string(point.largestLead) + "," + number(point.traffic) + "," +
            (point.hasServers ? number(point.serverLoad) + "," + number(point.lockLoad) : ",") +
            ",\n";
  }
  for (const sweep::RefusedForm &form : sweep.refused)
    text += "\"" + form.form + "\",,,,,,,,,,," + files::csvQuoted(form.reason) + "\n";
  return text;
}

nlohmann::json consistencyJson(const ConsistencyPoint &point) {
  nlohmann::json json = {{"schema", "syncline-consistency"},
                         {"version", 1},
                         {"consistency", point.form},
                         {"alone", point.alone},
                         {"ranks", point.ranks},
                         {"step", point.step},
                         {"waiting", point.waiting},
                         {"staleness",
                          {{"mean", point.staleness.mean},
                           {"percentile_95", point.staleness.most95},
                           {"largest", point.staleness.largest}}},
                         {"lead", point.largestLead},
                         {"traffic", point.traffic},
                         {"steps_per_second", point.rates},
                         {"waits", point.waits}};
  if (point.samplesPerSecond() > 0)
    json["samples_per_second"] = point.samplesPerSecond();
  if (point.hasServers)
    json["servers"] = {{"load", point.serverLoad}, {"locked", point.lockLoad}};
  return json;
}

} // namespace syncline::report
