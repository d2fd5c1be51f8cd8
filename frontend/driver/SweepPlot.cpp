// A sweep as a small SVG.
#include "frontend/driver/SweepReport.h"

#include "frontend/driver/PlanText.h"
#include "frontend/files/FormatUnits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace syncline::driver {

namespace {

constexpr double width = 720, height = 420, left = 90, right = 150, top = 40, bottom = 60;

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string format(const char *pattern, auto... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// A logarithmic axis: from a value to a fraction of it.
struct LogScale {
  double least, most;
  double place(double value) const {
    return most > least ? std::log(std::max(value, least) / least) / std::log(most / least) : 0.5;
  }
};

class Plot {
public:
  explicit Plot(const Sweep &sweep)
      : sweep(sweep), across{sweep.points.front().value, sweep.points.back().value}, up{} {
    double most = 0, least = 1e300;
    for (const SweepPoint &point : sweep.points) {
      most = std::max({most, point.step, point.exposed});
      for (double seconds : {point.step, point.compute, point.exposed})
        if (seconds > 0)
          least = std::min(least, seconds);
    }
    // What is exposed may be next to nothing: three decades are enough to see.
    up = {std::max(std::min(least, most), most * 1e-3) / 1.2, most * 1.2};
  }

  std::string draw(const std::string &title) const {
    std::string text =
        format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               width, height);
    text += "<text x=\"90\" y=\"24\" font-size=\"14\">" + escaped(title) + "</text>\n";
    text += axes();
    text += series("step", "#1f4e9c", &SweepPoint::step, 0);
    text += series("compute", "#888888", &SweepPoint::compute, 1);
    text += series("exposed", "#c0392b", &SweepPoint::exposed, 2);
    return text + "</svg>\n";
  }

private:
  double x(double value) const { return left + across.place(value) * (width - left - right); }
  double y(double seconds) const {
    return height - bottom - up.place(seconds) * (height - top - bottom);
  }

  std::string axes() const {
    std::string text;
    const std::size_t every = (sweep.points.size() + 7) / 8;
    for (std::size_t i = 0; i < sweep.points.size(); i += every) {
      const double at = x(sweep.points[i].value);
      text += format("<line x1=\"%.1f\" y1=\"%g\" x2=\"%.1f\" y2=\"%g\" stroke=\"#dddddd\"/>\n", at,
                     top, at, height - bottom);
      text +=
          format("<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", at,
                 height - bottom + 18, axisValue(sweep.axis.kind, sweep.points[i].value).c_str());
    }
    text += format("<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%s</text>\n",
                   (left + width - right) / 2, height - 14,
                   std::string(axisName(sweep.axis.kind)).c_str());
    for (int i = 0; i <= 4; ++i) {
      const double seconds = up.least * std::pow(up.most / up.least, i / 4.0);
      text += format("<line x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
                     left, y(seconds), width - right, y(seconds));
      text += format("<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", left - 8,
                     y(seconds) + 4, files::formatSeconds(seconds).c_str());
    }
    return text;
  }

  std::string series(const char *name, const char *colour, double SweepPoint::*member,
                     int row) const {
    std::string line, dots;
    for (const SweepPoint &point : sweep.points) {
      if (!(point.*member > 0))
        continue;
      line += format("%.1f,%.1f ", x(point.value), y(point.*member));
      dots += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x(point.value),
                     y(point.*member), colour);
    }
    return "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + std::string(colour) +
           "\" points=\"" + line + "\"/>\n" + dots +
           format("<text x=\"%g\" y=\"%d\" fill=\"%s\">%s</text>\n", width - right + 16,
                  60 + 20 * row, colour, name);
  }

  const Sweep &sweep;
  LogScale across, up;
};

} // namespace

std::string sweepSvg(const Sweep &sweep, const std::string &title) {
  return Plot(sweep).draw(title);
}

} // namespace syncline::driver
