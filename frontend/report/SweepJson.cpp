// The numbers of points as JSON.
#include "frontend/report/SweepJson.h"

#include "frontend/report/ConsistencyReport.h"
#include "frontend/report/SweepReport.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace syncline::report {

using nlohmann::json;

namespace {

std::string line(const json &object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

json known(double value) { return value > 0 ? json(value) : json(); }

/// A value as in CSV: a name, a whole number or one in the column's unit.
json axisJson(const sweep::SweepAxis &axis, double value) {
  if (axis.isNamed())
    return sweep::axisValue(axis, value);
  return axis.isWhole() ? json(std::llround(value)) : json(sweep::csvValue(axis.kind, value));
}

json pointJson(const sweep::SweepPoint &point) {
  json schemes = json::object();
  for (const Scheme scheme : point.schemes) {
    json &count = schemes[std::string(schemeName(scheme))];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  const Throughput rate = throughputOf(point);
  return {{"ranks", point.ranks},
          {"step", point.step},
          {"compute", point.compute},
          {"exposed", point.exposed},
          {"communication_end", point.communicationEnd},
          {"messages", point.messageCount()},
          {"by_cost", point.hasWhole},
          {"samples_per_second", known(rate.samplesPerSecond())},
          {"efficiency", known(rate.efficiency())},
          {"overlap", point.sends() ? json(std::string(overlapName(point.overlap))) : json()},
          {"gap", point.gap ? json(*point.gap) : json()},
          {"schemes", std::move(schemes)}};
}

std::string linesOf(const sweep::Sweep &sweep, const json &common, const json &fixed) {
  std::string text;
  for (const SweptValue &value : sweptValues(sweep)) {
    json object = common;
    object["schema"] = "syncline-sweep";
    object["version"] = 1;
    object["at"] = fixed;
    object["at"][std::string(sweep::csvColumn(sweep.axis.kind))] =
        axisJson(sweep.axis, value.value);
    object["left_out"] = value.skipped ? json(value.skipped->reason) : json();
    if (value.point)
      object.update(pointJson(*value.point));
    text += line(object);
  }
  return text;
}

} // namespace

std::string sweepJsonLines(const sweep::Sweep &sweep, const json &common) {
  return linesOf(sweep, common, json::object());
}

std::string gridJsonLines(const sweep::SweepGrid &grid, const json &common) {
  std::string text;
  for (std::size_t i = 0; i < grid.columns.size(); ++i)
    text += linesOf(
        grid.columns[i], common,
        {{std::string(sweep::csvColumn(grid.across.kind)), axisJson(grid.across, grid.values[i])}});
  return text;
}

std::string consistencyJsonLines(const sweep::ConsistencySweep &sweep, const json &common) {
  std::string text;
  for (const sweep::ConsistencyPoint &point : sweep.points) {
    json object = consistencyJson(point);
    object.update(common);
    object["left_out"] = nullptr;
    text += line(object);
  }
  for (const sweep::RefusedForm &form : sweep.refused) {
    json object = common;
    object.update({{"schema", "syncline-consistency"},
                   {"version", 1},
                   {"consistency", form.form},
                   {"left_out", form.reason}});
    text += line(object);
  }
  return text;
}

} // namespace syncline::report
