// Axes of a sweep, and their values.
#include "frontend/sweep/SweepAxis.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/files/Units.h"
#include "passes/solver/Planner.h"
#include "syncline/PlanConstants.h"

#include <algorithm>
#include <cmath>

namespace syncline::sweep {

namespace {

using Kind = SweepAxis::Kind;

constexpr Kind kinds[] = {Kind::bandwidth, Kind::latency, Kind::ranks,   Kind::nodes,  Kind::batch,
                          Kind::slow,      Kind::bucket,  Kind::overlap, Kind::planner};

bool isWhole(Kind kind) {
  return kind == Kind::ranks || kind == Kind::nodes || kind == Kind::batch ||
         kind == Kind::bucket || kind == Kind::planner;
}

Result<double> parseValue(Kind kind, std::string_view text) {
  switch (kind) {
  case Kind::bandwidth:
    return files::parseByteRate(text);
  case Kind::latency: {
    Result<double> seconds = files::parseSeconds(text);
    if (seconds && *seconds <= 0)
      return Status::badInput("expected a time above zero, got '" + std::string(text) + "'");
    return seconds;
  }
  case Kind::ranks:
  case Kind::nodes:
  case Kind::batch: {
    SYNCLINE_TRY_GET(count, files::parseCount(text, axisName(kind), maxRanks));
    return static_cast<double>(*count);
  }
  case Kind::slow:
    return files::parseFactor(text);
  case Kind::bucket: {
    SYNCLINE_TRY_GET(bytes, files::parseBytes(text));
    if (*bytes == 0)
      return Status::badInput("expected a size above zero, got '" + std::string(text) + "'");
    return static_cast<double>(*bytes);
  }
  case Kind::overlap:
    for (Overlap overlap : {Overlap::backward, Overlap::step})
      if (text == overlapName(overlap))
        return static_cast<double>(overlap);
    return Status::badInput("expected 'backward', 'step' or 'backward,step', got '" +
                            std::string(text) + "'");
  case Kind::planner:
    break; // parsePlanners() reads these
  }
  return Status::badInput("unknown axis");
}

Status usage(const std::string &what) {
  return Status::error(ErrorKind::badUsage, "--sweep: " + what);
}

/// "VALUE,VALUE,.." as one list, "FIRST..LAST" and "VALUE" as the two ends.
Result<std::vector<double>> parseValues(Kind kind, std::string_view text) {
  const std::string_view separator = text.find("..") != std::string_view::npos ? ".." : ",";
  std::vector<double> values;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    SYNCLINE_TRY_GET(value, parseValue(kind, text.substr(at, end - at)));
    if (!values.empty() && separator == "," && *value <= values.back())
      return Status::badInput("expected values that ascend");
    values.push_back(*value);
    at = end + separator.size();
  }
  if (separator == ".." && values.size() > 2)
    return Status::badInput("expected one '..'");
  if (values.back() < values.front())
    return Status::badInput("expected the smaller value first");
  return values;
}

/// The texts about one kind of axis.
struct KindText {
  std::string_view name, column;
};

KindText textOf(Kind kind) {
  switch (kind) {
  case Kind::bandwidth:
    return {"bandwidth", "bandwidth_bit_per_s"};
  case Kind::latency:
    return {"latency", "latency_s"};
  case Kind::ranks:
    return {"ranks", "ranks"};
  case Kind::nodes:
    return {"nodes", "nodes"};
  case Kind::batch:
    return {"batch", "batch_samples_per_rank"};
  case Kind::slow:
    return {"slow", "slow_factor"};
  case Kind::bucket:
    return {"bucket", "bucket_bytes"};
  case Kind::overlap:
    return {"overlap", "overlap"};
  case Kind::planner:
    return {"planner", "planner"};
  }
  return {};
}

/// "PLANNER,PLANNER,..", in this order.
Result<SweepAxis> parsePlanners(std::string_view text) {
  SweepAxis axis{Kind::planner};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string name(text.substr(at, end - at));
    if (name.empty())
      return usage("'planner=" + std::string(text) + "': expected names of planners, got nothing" +
                   (text.empty() ? "" : " in one place"));
    const auto planner = solver::parsePlanner(name);
    if (!planner)
      return Status::error(planner.status().kind(), "--sweep: " + planner.status().message());
    if (!(*planner)->plansAnew())
      return usage("planner '" + name + "' plans only in 'syncline compile'");
    if (std::ranges::count(axis.planners, name) > 0)
      return usage("planner '" + name + "' is named twice");
    axis.listed.push_back(static_cast<double>(axis.planners.size()));
    axis.planners.push_back(name);
    at = end + 1;
  }
  axis.last = axis.listed.back();
  return axis;
}

} // namespace

std::string_view overlapName(Overlap overlap) {
  switch (overlap) {
  case Overlap::backward:
    return "backward";
  case Overlap::step:
    return "step";
  }
  return {};
}

bool SweepAxis::isWhole() const { return sweep::isWhole(kind); }

std::string_view axisName(Kind kind) { return textOf(kind).name; }

std::string_view csvColumn(Kind kind) { return textOf(kind).column; }

double csvValue(Kind kind, double value) { return kind == Kind::bandwidth ? 8 * value : value; }

Result<SweepAxis> parseSweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto kind =
      std::ranges::find(kinds, text.substr(0, std::min(equals, text.size())), axisName);
  if (equals == std::string_view::npos || kind == std::end(kinds))
    return usage(
        "expected bandwidth, latency, ranks, nodes, batch, slow, bucket, overlap, planner or "
        "consistency with a range, as in 'bandwidth=1Gb/s..100Gb/s', or a list, as in "
        "'ranks=4,8,16', got '" +
        std::string(text) + "'");
  const std::string_view range = text.substr(equals + 1);
  if (*kind == Kind::planner)
    return parsePlanners(range);
  Result<std::vector<double>> values = parseValues(*kind, range);
  if (!values)
    return usage("'" + std::string(text) + "': " + values.status().message());
  SweepAxis axis{*kind, values->front(), values->back()};
  if (*kind == Kind::overlap && range.find("..") != std::string_view::npos)
    return usage("'" + std::string(text) + "': expected a list, as in 'overlap=backward,step'");
  if (*kind == Kind::overlap || range.find(',') != std::string_view::npos)
    axis.listed = std::move(*values);
  return axis;
}

Status checkCombination(const SweepAxis &axis, const SweepAxis &across) {
  auto sets = [](Kind kind) {
    return kind == Kind::nodes ? Kind::ranks : kind == Kind::bucket ? Kind::planner : kind;
  };
  if (sets(axis.kind) != sets(across.kind))
    return Status::ok();
  const std::string first(axisName(axis.kind)), second(axisName(across.kind));
  return usage(first == second ? "'" + first + "' is given twice"
                               : "'" + first + "' and '" + second + "' set the same thing");
}

std::vector<double> sweepValues(const SweepAxis &axis, int devicesPerNode) {
  if (!axis.listed.empty())
    return axis.listed;
  std::vector<double> values;
  for (double value = axis.first; value < axis.last * (1 - 1e-9); value *= 2)
    values.push_back(value);
  values.push_back(axis.last);
  if (!isWhole(axis.kind))
    return values;
  std::vector<double> whole{axis.first};
  for (double value : values) {
    const bool isNodes = axis.kind == Kind::ranks && value > devicesPerNode;
    const double step = isNodes ? devicesPerNode : 1;
    const double rounded = std::round(value / step) * step;
    if (rounded > whole.back() && rounded < axis.last)
      whole.push_back(rounded);
  }
  if (axis.last > whole.back())
    whole.push_back(axis.last);
  return whole;
}

std::string axisValue(Kind kind, double value) {
  switch (kind) {
  case Kind::bandwidth:
    return files::formatNumber(value * 8e-9, 4) + " Gb/s";
  case Kind::latency:
    return files::formatSeconds(value);
  case Kind::bucket:
    return files::formatBytes(std::llround(value), 4);
  case Kind::overlap:
    return std::string(overlapName(static_cast<Overlap>(std::llround(value))));
  case Kind::planner:
  case Kind::ranks:
  case Kind::nodes:
  case Kind::batch:
  case Kind::slow:
    return isWhole(kind) ? std::to_string(std::llround(value)) : files::formatNumber(value, 4);
  }
  return {};
}

std::string axisValue(const SweepAxis &axis, double value) {
  return axis.kind == Kind::planner ? axis.planners[static_cast<std::size_t>(std::llround(value))]
                                    : axisValue(axis.kind, value);
}

} // namespace syncline::sweep
