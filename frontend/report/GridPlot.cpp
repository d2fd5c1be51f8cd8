// A sweep over two axes as a small SVG: a line for each value of the second one.
#include "frontend/files/FormatUnits.h"
#include "frontend/report/Svg.h"
#include "frontend/report/SweepReport.h"

#include <algorithm>
#include <cmath>

namespace syncline::report {

namespace {

using svg::format, svg::line, svg::text;

constexpr double width = 760, left = 90, right = 170, top = 64, bottom = 400, rowHeight = 18;

/// Neighbours differ; a ninth line has the first one's colour and dashes.
constexpr const char *colours[] = {"#1f4e9c", "#c0392b", "#1e8449", "#b9770e",
                                   "#6c3483", "#117a8b", "#555555", "#d81b60"};

class Plot {
public:
  explicit Plot(const sweep::SweepGrid &grid) : grid(grid) {
    for (const SweptValue &value : sweptValues(grid.columns.front()))
      values.push_back(value.value);
    for (const sweep::Sweep &column : grid.columns)
      for (const sweep::SweepPoint &point : column.points) {
        isShare = isShare || point.efficiency() > 0;
        mostSeconds = std::max(mostSeconds, point.step);
      }
  }

  std::string draw(const std::string &title) const {
    const double rows = rowHeight * static_cast<double>(grid.columns.size());
    std::string picture =
        svg::opening(width, std::max(bottom + 56, top + rows + 40)) + svg::title(left, title) +
        text(left, 46, "start",
             isShare ? "scaling efficiency; across: logarithmic" : "step; across: logarithmic") +
        axes();
    for (std::size_t i = 0; i < grid.columns.size(); ++i)
      picture += series(i);
    return picture + "</svg>\n";
  }

private:
  double x(double value) const {
    const double span = std::log(values.back() / values.front());
    const double place = span > 0 ? std::log(value / values.front()) / span : 0.5;
    return left + place * (width - left - right);
  }
  double y(double share) const { return bottom - std::min(share, 1.0) * (bottom - top); }
  double shareOf(const sweep::SweepPoint &point) const {
    return isShare ? point.efficiency() : point.step / mostSeconds;
  }

  std::string axes() const {
    constexpr double apart = 66;
    std::string svg;
    double labelled = -apart;
    for (double value : values) {
      svg += line(x(value), top, x(value), bottom, "#dddddd");
      if (x(value) - labelled < apart)
        continue;
      labelled = x(value);
      svg += text(x(value), bottom + 18, "middle", sweep::axisValue(grid.axis, value));
    }
    svg += text((left + width - right) / 2, bottom + 38, "middle",
                std::string(sweep::axisName(grid.axis.kind)));
    for (int percent = 0; percent <= 100; percent += 25) {
      const double share = percent / 100.0;
      svg += line(left, y(share), width - right, y(share), "#dddddd");
      svg += text(left - 8, y(share) + 4, "end",
                  isShare ? std::to_string(percent) + " %"
                          : files::formatSeconds(share * mostSeconds));
    }
    return svg;
  }

  std::string series(std::size_t column) const {
    const char *colour = colours[column % std::size(colours)];
    std::string points, dots;
    for (const sweep::SweepPoint &point : grid.columns[column].points) {
      if (shareOf(point) <= 0)
        continue;
      points += format("%.1f,%.1f ", x(point.value), y(shareOf(point)));
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(point.value),
                     y(shareOf(point)), colour);
    }
    return format("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\"%s points=\"", colour,
                  column < std::size(colours) ? "" : " stroke-dasharray=\"6 3\"") +
           points + "\"/>\n" + dots +
           text(width - right + 16, top + 8 + rowHeight * static_cast<double>(column), "start",
                std::string(sweep::axisName(grid.across.kind)) + " " +
                    sweep::axisValue(grid.across, grid.values[column]) +
                    (points.empty() ? ": none" : ""),
                colour);
  }

  const sweep::SweepGrid &grid;
  std::vector<double> values; ///< of the axis, ascending
  bool isShare = false;       ///< some efficiency is known
  double mostSeconds = 0;
};

} // namespace

std::string gridSvg(const sweep::SweepGrid &grid, const std::string &title) {
  return Plot(grid).draw(title);
}

} // namespace syncline::report
