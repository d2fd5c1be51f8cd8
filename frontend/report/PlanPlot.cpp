// A plan as a picture: what computes, what travels, and when, on one axis of time.
#include "frontend/report/PlanPlot.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/PlanTimeline.h"
#include "frontend/report/Svg.h"
#include "syncline/Scheme.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace syncline::report {

namespace {

using files::formatSeconds;
using svg::format, svg::line, svg::rectangle, svg::text;

/// Places in pixels. Rows are bars of barHeight below their `..Top`.
constexpr double width = 900, left = 110, right = 30, barHeight = 34, computationTop = 76,
                 readyTop = 120, channelTop = 164, axisTop = 216, legendTop = 266;

constexpr const char *otherColour = "#777777", *gridColour = "#dddddd", *stepColour = "#c0392b",
                     *hatch = "url(#exposed)";

/// Colours of bars, indexed by the scheme's value.
constexpr std::array<const char *, 10> schemeColours{"#1f4e9c", "#8e44ad", "#b8437f", "#7a6420",
                                                     "#4a5568", "#0e7490", "#b9501c", "#1e8449",
                                                     "#65a30d", "#a16207"};
static_assert(schemeColours.size() == allSchemes().size());

const char *colourOf(const std::string &scheme) {
  const std::optional<Scheme> known = parseScheme(scheme);
  return known ? schemeColours[static_cast<std::size_t>(*known)] : otherColour;
}

/// A linear axis from 0 to `end` seconds in one unit, with ticks at 1, 2 or 5 times a power of ten.
struct TimeAxis {
  double end;
  double unit = 1; ///< seconds
  const char *unitName = "s";

  explicit TimeAxis(double end) : end(end) {
    constexpr std::pair<double, const char *> smaller[] = {{1e-3, "ms"}, {1e-6, "us"}};
    for (auto [seconds, name] : smaller)
      if (end > 0 && end < unit) {
        unit = seconds;
        unitName = name;
      }
  }

  double x(double seconds) const {
    return left + (end > 0 ? seconds / end : 0) * (width - left - right);
  }

  /// About ten ticks, in units.
  std::vector<double> ticks() const {
    const double tenth = end / unit / 10;
    if (!(tenth > 0))
      return {0};
    const double power = std::pow(10, std::floor(std::log10(tenth)));
    double apart = 10 * power;
    for (double digit : {5.0, 2.0})
      if (tenth <= digit * power)
        apart = digit * power;
    std::vector<double> result;
    for (int i = 0; i * apart <= end / unit; ++i)
      result.push_back(i * apart);
    return result;
  }
};

struct LegendEntry {
  std::string name;
  const char *colour;
  bool isHatched = false;
};

class Plot {
public:
  explicit Plot(const nlohmann::json &plan)
      : plan(plan),
        step(std::min(secondsOf(plan.at("predicted"), "step"), lastMicroBatchSeconds(plan))),
        isCarried(plan.value("overlap", "backward") == "step"), axis(0) {
    double end = step;
    for (const nlohmann::json &bucket : plan.at("buckets")) {
      buckets.push_back(bucketOf(bucket));
      end = std::max(end, buckets.back().ready);
      if (!isCarried)
        end = std::max({end, buckets.back().start, buckets.back().end, buckets.back().gatherEnd});
    }
    phases = phasesOf(plan, buckets);
    for (const Phase &phase : phases)
      end = std::max({end, phase.start, phase.end});
    axis = TimeAxis(end);
  }

  std::string draw() const {
    const auto [legendText, height] = legend();
    std::string picture =
        svg::opening(width, height) +
        "<defs><pattern id=\"exposed\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"6\" fill=\"white\"/>"
        "</pattern></defs>\n";
    picture += titles() + scale();
    for (const Phase &phase : phases)
      picture += phaseBar(phase);
    if (isCarried)
      picture += waits();
    picture += readyTicks();
    for (const PlottedBucket &bucket : buckets)
      picture += channelBar(bucket);
    return picture + stepEnd() + legendText + "</svg>\n";
  }

private:
  /// How far messages reach into the next step.
  double carriedSeconds() const {
    double last = 0;
    for (const PlottedBucket &bucket : buckets)
      last = std::max(last, bucket.lastEnd());
    return isCarried ? last - step : 0;
  }

  std::string titles() const {
    const nlohmann::json &predicted = plan.at("predicted");
    const double exposed = secondsOf(predicted, "exposed");
    const std::int64_t ranks = plan.at("ranks");
    return svg::title(left,
                      "plan " + printable(plan.at("name")) + ", planner " +
                          printable(plan.at("planner")) + ": " +
                          (microBatchesOf(plan) == 1 ? "step " : "last micro-batch of a step ") +
                          formatSeconds(step) + " in virtual time") +
           text(left, 46, "start",
                files::counted(ranks, "rank") + ", " + files::counted(buckets.size(), "message") +
                    ", " + formatSeconds(exposed) + " of communication exposed" +
                    (carriedSeconds() > 0
                         ? "; messages end up to " + formatSeconds(carriedSeconds()) +
                               " into the next step"
                         : ""));
  }

  std::string scale() const {
    std::string picture;
    for (double tick : axis.ticks()) {
      const double x = axis.x(tick * axis.unit);
      picture += line(x, computationTop - 6, x, axisTop, gridColour);
      picture += text(x, axisTop + 16, "middle", format("%g", tick));
    }
    picture += line(left, axisTop, width - right, axisTop, "black");
    picture += text((left + width - right) / 2, axisTop + 34, "middle",
                    std::string("virtual time in ") + axis.unitName);
    constexpr std::pair<double, const char *> rows[] = {
        {computationTop, "computation"}, {readyTop, "ready"}, {channelTop, "channel"}};
    for (auto [top, name] : rows)
      picture += text(left - 10, top + barHeight / 2 + 4, "end", name);
    return picture;
  }

  /// `words` at height `y`, in the middle of the interval, where it has room for them.
  std::string label(double start, double end, double y, const std::string &words) const {
    constexpr double letter = 7;
    const double room = axis.x(end) - axis.x(start);
    return room < letter * static_cast<double>(words.size()) + 4
               ? ""
               : text((axis.x(start) + axis.x(end)) / 2, y, "middle", words);
  }

  /// A bar, with a white line at its start where it is wide enough for one.
  std::string bar(double start, double end, double top, const char *fill,
                  const std::string &tooltip, double high = barHeight) const {
    constexpr double wide = 4;
    const double barWidth = std::max(axis.x(end) - axis.x(start), 0.0);
    const std::string picture = rectangle(axis.x(start), top, barWidth, high, fill, tooltip);
    return barWidth < wide ? picture
                           : picture + line(axis.x(start), top, axis.x(start), top + high, "white");
  }

  std::string phaseBar(const Phase &phase) const {
    const std::string what = phase.what.empty() ? phase.name : phase.what;
    return bar(phase.start, phase.end, computationTop, phase.colour,
               what + ": " + formatSeconds(phase.start) + " to " + formatSeconds(phase.end)) +
           label(phase.start, phase.end, computationTop + barHeight / 2 + 4, phase.name);
  }

  /// The parts of an interval that lie within the step: what ends behind it ends in the next one,
  /// so that the same part of the step before stands at the picture's beginning.
  std::vector<std::pair<double, double>> partsOf(double start, double end) const {
    if (!isCarried || end <= step)
      return {{start, end}};
    std::vector<std::pair<double, double>> parts;
    if (start < step)
      parts.emplace_back(start, step);
    parts.emplace_back(std::max(start - step, 0.0), std::min(end - step, step));
    return parts;
  }

  std::string bars(double start, double end, double top, const char *fill,
                   const std::string &tooltip, double high = barHeight) const {
    std::string picture;
    for (auto [from, to] : partsOf(start, end))
      picture += bar(from, to, top, fill, tooltip, high);
    return picture;
  }

  /// Labels every part that has room.
  std::string labels(double start, double end, double y, const std::string &words) const {
    std::string picture;
    for (auto [from, to] : partsOf(start, end))
      picture += label(from, to, y, words);
    return picture;
  }

  /// Where the forward pass waits for a message of the step before.
  std::string waits() const {
    std::string picture;
    for (const PlottedBucket &bucket : buckets)
      if (bucket.exposed > 0)
        picture += bars(bucket.lastEnd() - bucket.exposed, bucket.lastEnd(), computationTop, hatch,
                        "waits for bucket " + std::to_string(bucket.id) + ": " +
                            formatSeconds(bucket.exposed));
    return picture;
  }

  std::string channelBar(const PlottedBucket &bucket) const {
    const std::string tooltip = "bucket " + std::to_string(bucket.id) + ": " + bucket.members +
                                ", " + files::formatBytes(bucket.bytes) + ", " + bucket.scheme +
                                "; ready at " + formatSeconds(bucket.ready) + ", travels " +
                                formatSeconds(bucket.start) + " to " + formatSeconds(bucket.end) +
                                ", exposed " + formatSeconds(bucket.exposed);
    const double high = barHeight / static_cast<double>(channelsOf(plan)),
                 top = channelTop + high * static_cast<double>(bucket.channel);
    std::string picture =
        bars(bucket.start, bucket.end, top, colourOf(bucket.scheme), tooltip, high);
    if (bucket.gatherEnd > 0)
      picture +=
          bars(bucket.gatherStart, bucket.gatherEnd, top, colourOf(bucket.scheme),
               "bucket " + std::to_string(bucket.id) + ": all-gather, travels " +
                   formatSeconds(bucket.gatherStart) + " to " + formatSeconds(bucket.gatherEnd),
               high) +
          labels(bucket.gatherStart, bucket.gatherEnd, channelTop + barHeight + 12,
                 std::to_string(bucket.id));
    if (bucket.exposed > 0)
      picture += bars(std::max(bucket.lastStart(), bucket.lastEnd() - bucket.exposed),
                      bucket.lastEnd(), top, hatch, tooltip, high);
    return picture +
           labels(bucket.start, bucket.end, channelTop + barHeight + 12, std::to_string(bucket.id));
  }

  /// A tick where a bucket is ready, and from there a line to the start of its message. Ticks that
  /// are close share a label.
  std::string readyTicks() const {
    std::string picture;
    for (const PlottedBucket &bucket : buckets) {
      const double x = axis.x(bucket.ready);
      const double start = isCarried ? std::min(bucket.start, step) : bucket.start;
      picture += line(x, readyTop + barHeight / 2, axis.x(start), channelTop, "#aaaaaa") +
                 line(x, readyTop, x, readyTop + barHeight / 2, colourOf(bucket.scheme));
    }
    constexpr double apart = 64;
    for (std::size_t first = 0, next = 0; first < buckets.size(); first = next) {
      const double x = axis.x(buckets[first].ready);
      while (next < buckets.size() && std::fabs(axis.x(buckets[next].ready) - x) < apart)
        ++next;
      std::string words = std::to_string(buckets[first].id);
      if (next - first > 1)
        words += ".." + std::to_string(buckets[next - 1].id);
      picture += text(x - 3, readyTop + 12, "end", words);
    }
    return picture;
  }

  std::string stepEnd() const {
    return line(axis.x(step), computationTop - 14, axis.x(step), axisTop, stepColour) +
           text(axis.x(step) - 4, computationTop - 8, "end",
                (microBatchesOf(plan) == 1 ? "step ends: " : "micro-batch ends: ") +
                    formatSeconds(step),
                stepColour);
  }

  /// Each phase and scheme that the picture has, then what the hatch means.
  std::vector<LegendEntry> legendEntries() const {
    std::vector<LegendEntry> entries;
    auto add = [&](const std::string &name, const char *colour) {
      if (std::ranges::find(entries, name, &LegendEntry::name) == entries.end())
        entries.push_back({name, colour});
    };
    for (const Phase &phase : phases)
      add(phase.name, phase.colour);
    for (const PlottedBucket &bucket : buckets)
      add(bucket.scheme, colourOf(bucket.scheme));
    if (std::ranges::any_of(buckets,
                            [](const PlottedBucket &bucket) { return bucket.exposed > 0; }))
      entries.push_back({"exposed: computation waits", otherColour, true});
    return entries;
  }

  /// The legend, in as many lines as it needs, and the height of the picture with it.
  std::pair<std::string, double> legend() const {
    constexpr double square = 14, letter = 7, gap = 24, lineHeight = 24;
    std::string picture;
    double x = left, y = legendTop;
    for (const LegendEntry &entry : legendEntries()) {
      const double entryWidth = square + gap + letter * static_cast<double>(entry.name.size());
      if (x > left && x + entryWidth > width) {
        x = left;
        y += lineHeight;
      }
      picture += rectangle(x, y, square, square, entry.colour);
      if (entry.isHatched)
        picture += rectangle(x, y, square, square, hatch);
      picture += text(x + square + 6, y + 11, "start", entry.name);
      x += entryWidth;
    }
    return {picture, y + lineHeight + 4};
  }

  const nlohmann::json &plan;
  double step;    ///< seconds of its last micro-batch
  bool isCarried; ///< messages may end in the next step
  std::vector<PlottedBucket> buckets;
  std::vector<Phase> phases;
  TimeAxis axis;
};

} // namespace

Result<std::string> planSvg(const nlohmann::json &plan) {
  return guarded([&] { return Plot(plan).draw(); });
}

} // namespace syncline::report
