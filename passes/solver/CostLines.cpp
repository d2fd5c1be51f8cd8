// Lower hulls of costs, and lines along them.
#include "passes/solver/CostLines.h"

#include <algorithm>
#include <cmath>

namespace syncline::solver {

namespace {

struct Point {
  double bytes, seconds;
};

/// Corners of the options' costs up to `most` bytes.
std::vector<Point> corners(std::span<const SchemeOption> options, std::int64_t most) {
  std::vector<Point> points;
  for (const SchemeOption &option : options) {
    std::span<const CostSegment> segments = option.cost->segments();
    for (std::size_t s = 0; s < segments.size() && segments[s].firstByte <= most; ++s) {
      std::int64_t last = s + 1 < segments.size() ? segments[s + 1].firstByte - 1 : most;
      for (std::int64_t bytes : {segments[s].firstByte, std::min(last, most)})
        points.push_back({static_cast<double>(bytes), option.cost->seconds(bytes)});
    }
  }
  std::ranges::sort(points, [](const Point &a, const Point &b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  });
  return points;
}

/// The lower convex hull of sorted points.
std::vector<Point> lowerHull(std::span<const Point> points) {
  std::vector<Point> hull;
  for (const Point &next : points) {
    if (!hull.empty() && hull.back().bytes == next.bytes)
      continue;
    while (hull.size() >= 2) {
      const Point &a = hull[hull.size() - 2], &b = hull.back();
      double through = (b.seconds - a.seconds) * (next.bytes - a.bytes);
      if (through < (next.seconds - a.seconds) * (b.bytes - a.bytes))
        break;
      hull.pop_back();
    }
    hull.push_back(next);
  }
  return hull;
}

/// The steepest line through the origin under all points.
Relaxation::Line ray(std::span<const Point> points) {
  double slope = infinity;
  for (const Point &point : points)
    if (point.bytes > 0)
      slope = std::min(slope, point.seconds / point.bytes);
  return {0, std::isfinite(slope) ? slope : 0};
}

/// The line along the hull at `bytes`, turned where its slope or latency would be negative. Where
/// edges far from the origin are nearly on one line, rounding would lift it over a short message.
Relaxation::Line tangent(std::span<const Point> hull, double bytes) {
  if (hull.size() == 1)
    return {hull[0].seconds, 0};
  std::size_t edge = 0;
  while (edge + 2 < hull.size() && hull[edge + 1].bytes < bytes)
    ++edge;
  const Point &a = hull[edge], &b = hull[edge + 1];
  double slope = (b.seconds - a.seconds) / (b.bytes - a.bytes);
  if (slope < 0)
    return {std::ranges::min(hull, {}, &Point::seconds).seconds, 0};
  double latency = infinity;
  for (const Point &point : hull)
    latency = std::min(latency, point.seconds - slope * point.bytes);
  return latency < 0 ? ray(hull) : Relaxation::Line{latency, slope};
}

} // namespace

Relaxation::Line rayUnder(std::span<const SchemeOption> options, std::int64_t most) {
  return ray(corners(options, most));
}

std::vector<CostLines> costLines(const Problem &problem,
                                 std::span<const std::int64_t, maxMergeClasses> most,
                                 std::span<const double> parts, bool withRays) {
  std::vector<CostLines> sets(parts.size());
  CostLines rays;
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass) {
    std::vector<Point> points = corners(problem.mergeClasses[mergeClass].options, most[mergeClass]);
    std::vector<Point> hull = lowerHull(points);
    for (std::size_t i = 0; i < parts.size(); ++i)
      sets[i][mergeClass] = tangent(hull, parts[i] * static_cast<double>(most[mergeClass]));
    rays[mergeClass] = ray(points);
  }
  if (withRays)
    sets.push_back(rays);
  auto same = [](const CostLines &a, const CostLines &b) {
    return std::ranges::equal(a, b, [](const auto &x, const auto &y) {
      return x.latency == y.latency && x.secondsPerByte == y.secondsPerByte;
    });
  };
  sets.erase(std::unique(sets.begin(), sets.end(), same), sets.end());
  return sets;
}

} // namespace syncline::solver
