// Costs of a collective: table look-up and the least-squares line.
#include "passes/problem/CollectiveCost.h"

#include "passes/problem/TreeCost.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace syncline::problem {

namespace {

Status pointError(std::size_t index, const std::string &what) {
  return Status::badInput("cost table, point " + std::to_string(index + 1) + ": " + what);
}

} // namespace

std::size_t fastestOption(std::span<const SchemeOption> options, std::int64_t bytes) {
  std::size_t best = 0;
  if (options.size() == 1)
    return best;
  double bestSeconds = options.front().cost->seconds(bytes);
  for (std::size_t i = 1; i < options.size(); ++i)
    if (double time = options[i].cost->seconds(bytes); time < bestSeconds) {
      best = i;
      bestSeconds = time;
    }
  return best;
}

Result<TableCost> TableCost::create(std::span<const CostPoint> points) {
  if (points.empty())
    return Status::badInput("cost table: expected at least one point, got none");
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].bytes < 0)
      return pointError(i, "expected bytes >= 0, got " + std::to_string(points[i].bytes));
    if (!std::isfinite(points[i].seconds) || points[i].seconds < 0)
      return pointError(i, "expected a finite time >= 0, got " + std::to_string(points[i].seconds));
    if (i > 0 && points[i].bytes <= points[i - 1].bytes)
      return pointError(i, "expected more than " + std::to_string(points[i - 1].bytes) +
                               " bytes, got " + std::to_string(points[i].bytes));
  }

  std::vector<CostSegment> pieces;
  if (points.front().bytes > 0)
    pieces.push_back({0, points.front().seconds, 0});
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    double rise = points[i + 1].seconds - points[i].seconds;
    double run = static_cast<double>(points[i + 1].bytes - points[i].bytes);
    pieces.push_back({points[i].bytes, points[i].seconds, rise / run});
  }
  double lastSlope = points.size() > 1 ? pieces.back().slope : 0;
  pieces.push_back({points.back().bytes, points.back().seconds, std::max(0.0, lastSlope)});
  return TableCost(std::move(pieces), {points.begin(), points.end()});
}

double PiecewiseCost::seconds(std::int64_t bytes) const {
  auto next = std::upper_bound(
      pieces.begin(), pieces.end(), bytes,
      [](std::int64_t value, const CostSegment &piece) { return value < piece.firstByte; });
  return std::prev(next)->seconds(bytes);
}

double SchemeOption::bytesMoved(std::int64_t bytes) const {
  const double perByte = bytes <= oneTreeBytes ? shortTraffic.value_or(traffic) : traffic;
  return perByte * static_cast<double>(bytes);
}

AffineFit fitAffine(const CollectiveCost &cost, std::span<const std::int64_t> sizes) {
  if (sizes.empty())
    return {};
  double meanBytes = 0, meanSeconds = 0;
  for (std::int64_t bytes : sizes) {
    meanBytes += static_cast<double>(bytes);
    meanSeconds += cost.seconds(bytes);
  }
  meanBytes /= static_cast<double>(sizes.size());
  meanSeconds /= static_cast<double>(sizes.size());

  double covariance = 0, variance = 0;
  for (std::int64_t bytes : sizes) {
    double offset = static_cast<double>(bytes) - meanBytes;
    covariance += offset * (cost.seconds(bytes) - meanSeconds);
    variance += offset * offset;
  }
  double slope = variance > 0 ? covariance / variance : 0;
  return {meanSeconds - slope * meanBytes, slope};
}

} // namespace syncline::problem
