// A sweep as a small SVG: times above, scaling efficiency below.
#include "frontend/report/SweepReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/Svg.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

namespace {

using svg::format, svg::line, svg::text;

/// The times' panel from top to middle, the efficiency's from below it to bottom.
constexpr double width = 760, left = 90, right = 130, top = 64, middle = 330, lower = 356,
                 bottom = 436, noteHeight = 16;

/// A logarithmic axis: from a value to a fraction of it.
struct LogScale {
  double least, most;
  double place(double value) const {
    return most > least ? std::log(std::max(value, least) / least) / std::log(most / least) : 0.5;
  }
};

/// Ticks at 1, 2 and 5 times powers of ten; on a wide scale at powers of ten alone.
std::vector<double> roundTicks(const LogScale &scale) {
  const bool isWide = scale.most / scale.least > 2e3;
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(scale.least))); power <= scale.most;
       power *= 10)
    for (double digit : {1.0, 2.0, 5.0})
      if (const double tick = digit * power;
          tick >= scale.least && tick <= scale.most && (digit == 1 || !isWide))
        ticks.push_back(tick);
  return ticks;
}

class Plot {
public:
  explicit Plot(const sweep::Sweep &sweep) : sweep(sweep), across{}, up{} {
    for (const sweep::SweepPoint &point : sweep.points)
      values.push_back(point.value);
    for (const sweep::SkippedValue &value : sweep.skipped)
      values.push_back(value.value);
    std::ranges::sort(values);
    across = {values.front(), values.back()};
    double most = 0, least = 1e300;
    for (const sweep::SweepPoint &point : sweep.points) {
      most = std::max({most, point.step, point.exposed});
      for (double seconds : {point.step, point.compute, point.exposed})
        if (seconds > 0)
          least = std::min(least, seconds);
    }
    // Exposed times may be tiny: the axis shows three decades.
    up = {std::max(std::min(least, most), most * 1e-3) / 1.2, most * 1.2};
  }

  std::string draw(const std::string &title) const {
    const double height = bottom + 56 + noteHeight * static_cast<double>(sweep.skipped.size());
    std::string picture = svg::opening(width, height) + svg::title(left, title);
    picture += text(left, 46, "start", "times; both axes are logarithmic");
    picture += axes();
    // The widest line first, so that the step's line shows on top where both are equal.
    picture += series("compute", "#888888", &sweep::SweepPoint::compute, 1, 5);
    picture += series("step", "#1f4e9c", &sweep::SweepPoint::step, 0, 2);
    picture += series("exposed", "#c0392b", &sweep::SweepPoint::exposed, 2, 2);
    return picture + efficiency() + skippedValues() + "</svg>\n";
  }

private:
  double x(double value) const { return left + across.place(value) * (width - left - right); }
  double y(double seconds) const { return middle - up.place(seconds) * (middle - top); }
  double yShare(double share) const { return bottom - std::min(share, 1.0) * (bottom - lower); }

  /// Labels that do not touch; the last value has one, before those that would touch it.
  std::vector<double> labelled() const {
    constexpr double apart = 66;
    std::vector<double> chosen;
    for (double value : values)
      if (chosen.empty() || x(value) - x(chosen.back()) >= apart)
        chosen.push_back(value);
    if (chosen.back() != values.back()) {
      while (chosen.size() > 1 && x(values.back()) - x(chosen.back()) < apart)
        chosen.pop_back();
      chosen.push_back(values.back());
    }
    return chosen;
  }

  std::string axes() const {
    std::string svg;
    for (double value : labelled()) {
      svg += line(x(value), top, x(value), middle, "#dddddd");
      svg += line(x(value), lower, x(value), bottom, "#dddddd");
      svg += text(x(value), bottom + 18, "middle", sweep::axisValue(sweep.axis, value));
    }
    svg += text((left + width - right) / 2, bottom + 38, "middle",
                std::string(sweep::axisName(sweep.axis.kind)));
    for (double seconds : roundTicks(up)) {
      svg += line(left, y(seconds), width - right, y(seconds), "#dddddd");
      svg += text(left - 8, y(seconds) + 4, "end", files::formatSeconds(seconds, 1));
    }
    return svg;
  }

  std::string polyline(const std::vector<std::pair<double, double>> &places, const char *colour,
                       int stroke) const {
    std::string points, dots;
    for (auto [across, down] : places) {
      points += format("%.1f,%.1f ", across, down);
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\"/>\n", across, down,
                     1.5 + stroke / 1.5, colour);
    }
    return format("<polyline fill=\"none\" stroke-width=\"%d\" stroke=\"%s\" points=\"", stroke,
                  colour) +
           points + "\"/>\n" + dots;
  }

  std::string series(const char *name, const char *colour, double sweep::SweepPoint::*member,
                     int row, int stroke) const {
    std::vector<std::pair<double, double>> places;
    for (const sweep::SweepPoint &point : sweep.points)
      if (point.*member > 0)
        places.emplace_back(x(point.value), y(point.*member));
    return polyline(places, colour, stroke) +
           text(width - right + 16, top + 16 + 20 * row, "start",
                places.empty() ? std::string(name) + ": none" : name, colour);
  }

  std::string efficiency() const {
    std::vector<std::pair<double, double>> places;
    for (const sweep::SweepPoint &point : sweep.points)
      if (const double share = throughputOf(point).efficiency(); share > 0)
        places.emplace_back(x(point.value), yShare(share));
    std::string svg;
    for (int percent : {0, 50, 100}) {
      svg += line(left, yShare(percent / 100.0), width - right, yShare(percent / 100.0), "#dddddd");
      svg += text(left - 8, yShare(percent / 100.0) + 4, "end", std::to_string(percent) + " %");
    }
    return svg + polyline(places, "#1e8449", 2) +
           text(width - right + 16, (lower + bottom) / 2, "start", "efficiency", "#1e8449");
  }

  std::string skippedValues() const {
    std::string svg;
    double down = bottom + 56;
    for (const sweep::SkippedValue &value : sweep.skipped) {
      svg += text(x(value.value), middle - 4, "middle", "\u00d7", "#c0392b");
      svg += text(left, down, "start",
                  "\u00d7 " + sweep::axisValue(sweep.axis, value.value) + ": " + value.reason,
                  "#c0392b");
      down += noteHeight;
    }
    return svg;
  }

  const sweep::Sweep &sweep;
  std::vector<double> values; ///< values of points and of what was left out, ascending
  LogScale across, up;
};

} // namespace

std::string sweepSvg(const sweep::Sweep &sweep, const std::string &title) {
  return Plot(sweep).draw(title);
}

} // namespace syncline::report
