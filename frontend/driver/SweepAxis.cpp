// Axes of a sweep, and their values.
#include "frontend/driver/SweepAxis.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/files/Units.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace syncline::driver {

namespace {

using Kind = SweepAxis::Kind;

constexpr Kind kinds[] = {Kind::bandwidth, Kind::latency, Kind::ranks, Kind::batch, Kind::slow};

bool isWhole(Kind kind) { return kind == Kind::ranks || kind == Kind::batch; }

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
  case Kind::batch: {
    Result<std::int64_t> count = files::parseCount(text, axisName(kind), 1 << 20);
    if (!count)
      return count.status();
    return static_cast<double>(*count);
  }
  case Kind::slow:
    return files::parseFactor(text);
  }
  return Status::badInput("unknown axis");
}

Status usage(const std::string &what) {
  return Status::error(ErrorKind::badUsage, "--sweep: " + what);
}

} // namespace

std::string_view axisName(Kind kind) {
  switch (kind) {
  case Kind::bandwidth:
    return "bandwidth";
  case Kind::latency:
    return "latency";
  case Kind::ranks:
    return "ranks";
  case Kind::batch:
    return "batch";
  case Kind::slow:
    return "slow";
  }
  return {};
}

Result<SweepAxis> parseSweep(std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto kind =
      std::ranges::find(kinds, text.substr(0, std::min(equals, text.size())), axisName);
  if (equals == std::string_view::npos || kind == std::end(kinds))
    return usage("expected bandwidth, latency, ranks, batch or slow with a range, as in "
                 "'bandwidth=1Gb/s..100Gb/s', got '" +
                 std::string(text) + "'");
  const std::string_view range = text.substr(equals + 1);
  const std::size_t dots = range.find("..");
  Result<double> first = parseValue(*kind, range.substr(0, std::min(dots, range.size())));
  Result<double> last =
      dots == std::string_view::npos ? first : parseValue(*kind, range.substr(dots + 2));
  for (const Result<double> *end : {&first, &last})
    if (!*end)
      return usage("'" + std::string(text) + "': " + end->status().message());
  if (*last < *first)
    return usage("'" + std::string(text) + "': expected the smaller value first");
  return SweepAxis{*kind, *first, *last};
}

std::vector<double> sweepValues(const SweepAxis &axis, std::optional<int> points,
                                int devicesPerNode) {
  std::vector<double> values;
  if (points && axis.last > axis.first) {
    for (int i = 0; i < *points; ++i)
      values.push_back(axis.first *
                       std::pow(axis.last / axis.first, static_cast<double>(i) / (*points - 1)));
    values.back() = axis.last;
  } else {
    for (double value = axis.first; value < axis.last * (1 - 1e-9); value *= 2)
      values.push_back(value);
    values.push_back(axis.last);
  }
  if (!isWhole(axis.kind))
    return values;
  const double step = axis.kind == Kind::ranks ? devicesPerNode : 1;
  std::vector<double> whole;
  for (double value : values) {
    double rounded = std::round(value / step) * step;
    rounded = std::max(rounded, step);
    if (rounded >= axis.first && rounded <= axis.last && (whole.empty() || rounded > whole.back()))
      whole.push_back(rounded);
  }
  return whole;
}

std::string axisValue(Kind kind, double value) {
  char text[32];
  switch (kind) {
  case Kind::bandwidth:
    std::snprintf(text, sizeof text, "%.4g Gb/s", value * 8e-9);
    return text;
  case Kind::latency:
    return files::formatSeconds(value);
  case Kind::ranks:
  case Kind::batch:
  case Kind::slow:
    std::snprintf(text, sizeof text, "%.4g", value);
    if (isWhole(kind))
      return std::to_string(std::llround(value));
    return text;
  }
  return {};
}

} // namespace syncline::driver
