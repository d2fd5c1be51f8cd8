// Bisects between two points of a sweep.
#include "frontend/sweep/BreakEven.h"

#include <algorithm>
#include <cmath>

namespace syncline::sweep {

namespace {

/// Bisection ends where two continuous values are this near, relative to the smaller one.
constexpr double precision = 0.005;

/// A value between two others; nothing where they are near enough.
std::optional<double> between(const SweepAxis &axis, int devicesPerNode, double low, double high) {
  const double middle = std::sqrt(low * high);
  if (!axis.isWhole())
    return high > low * (1 + precision) ? std::optional(middle) : std::nullopt;
  const double step =
      axis.kind == SweepAxis::Kind::ranks && high > devicesPerNode ? devicesPerNode : 1;
  double value = std::round(middle / step) * step;
  value = value <= low ? value + step : value >= high ? value - step : value;
  return value > low && value < high ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<BreakEven>
findBreakEven(const SweepAxis &axis, int devicesPerNode, double threshold,
              std::span<const KnownShare> points,
              const std::function<std::optional<double>(double)> &shareAt) {
  const bool isUnknown =
      std::ranges::any_of(points, [](double share) { return share <= 0; }, &KnownShare::share);
  if (axis.isNamed() || points.empty() || isUnknown)
    return std::nullopt;
  BreakEven result{.threshold = threshold};
  auto isAbove = [&](double share) { return share > threshold; };
  std::size_t changes = 0, last = 0;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (isAbove(points[i - 1].share) != isAbove(points[i].share)) {
      ++changes;
      last = i;
    }
  if (changes > 1) {
    result.kind = BreakEven::Kind::notMonotone;
    return result;
  }
  if (changes == 0) {
    const bool isEverywhere = isAbove(points.front().share);
    const auto [least, most] = std::ranges::minmax_element(points, {}, &KnownShare::share);
    result.kind = isEverywhere ? BreakEven::Kind::everywhere : BreakEven::Kind::never;
    result.share = isEverywhere ? least->share : most->share;
    result.best = isEverywhere ? least->value : most->value;
    return result;
  }
  const bool isFrom = isAbove(points[last].share);
  double low = points[last - 1].value, high = points[last].value;
  while (const std::optional<double> middle = between(axis, devicesPerNode, low, high)) {
    const std::optional<double> share = shareAt(*middle);
    if (!share || *share <= 0)
      break;
    (isAbove(*share) == isFrom ? high : low) = *middle;
  }
  result.kind = isFrom ? BreakEven::Kind::from : BreakEven::Kind::upTo;
  result.at = isFrom ? high : low;
  return result;
}

} // namespace syncline::sweep
