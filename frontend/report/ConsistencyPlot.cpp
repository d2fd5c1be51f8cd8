// Consistencies as a small SVG: time over staleness.
#include "frontend/files/FormatUnits.h"
#include "frontend/report/ConsistencyReport.h"
#include "frontend/report/Svg.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

namespace {

constexpr double width = 760, left = 90, right = 150, top = 64, bottom = 400;
constexpr int ticks = 4;

/// A tick distance of 1, 2 or 5 times a power of ten, so that at most so many reach `most`.
double roundStep(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / ticks)));
  for (double digit : {1.0, 2.0, 5.0})
    if (most / (digit * power) <= ticks)
      return digit * power;
  return 10 * power;
}

} // namespace

std::string consistencySvg(const sweep::ConsistencySweep &sweep, const std::string &title) {
  double stalest = 1, slowest = 0;
  for (const sweep::ConsistencyPoint &point : sweep.points) {
    stalest = std::max(stalest, point.staleness.mean);
    slowest = std::max(slowest, point.step);
  }
  stalest *= 1.05;
  slowest *= 1.1;
  const auto x = [&](double stale) { return left + stale / stalest * (width - left - right); };
  const auto y = [&](double step) { return bottom - step / slowest * (bottom - top); };
  std::string picture = svg::opening(width, bottom + 60) + svg::title(left, title);
  picture += svg::text(left, 46, "start", "a step's time over what its weights lag");
  for (double at = 0; at <= slowest; at += roundStep(slowest)) {
    picture += svg::line(left, y(at), width - right, y(at), "#dddddd");
    picture += svg::text(left - 8, y(at) + 4, "end", files::formatSeconds(at, 2));
  }
  for (double at = 0; at <= stalest; at += roundStep(stalest)) {
    picture += svg::line(x(at), top, x(at), bottom, "#dddddd");
    picture += svg::text(x(at), bottom + 18, "middle", svg::format("%g", at));
  }
  picture += svg::text((left + width - right) / 2, bottom + 40, "middle", "mean staleness, steps");
  for (const sweep::ConsistencyPoint &point : sweep.points) {
    picture += svg::format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f4e9c\"/>\n",
                           x(point.staleness.mean), y(point.step));
    picture += svg::text(x(point.staleness.mean) + 8, y(point.step) + 4, "start", point.form);
  }
  return picture + "</svg>\n";
}

} // namespace syncline::report
