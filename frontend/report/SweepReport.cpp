// A sweep's points as a table and as CSV, and where their decisions differ.
#include "frontend/report/SweepReport.h"

#include "frontend/files/Csv.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <algorithm>
#include <map>

namespace syncline::report {

using files::formatSeconds;

namespace {

std::string number(double value) { return files::formatNumber(value, 9); }

/// "ring 12, factors 3": gradients by scheme.
std::string schemeSummary(const sweep::SweepPoint &point) {
  std::string text;
  for (Scheme scheme : allSchemes())
    if (auto count = std::ranges::count(point.schemes, scheme); count > 0)
      text += (text.empty() ? "" : ", ") + std::string(schemeName(scheme)) + " " +
              std::to_string(count);
  return text;
}

/// "step"; empty where nothing is sent.
std::string overlapOf(const sweep::SweepPoint &point) {
  return point.sends() ? std::string(overlapName(point.overlap)) : "";
}

/// Whether gradients travel in the same groups at both points, whatever the messages' numbers.
bool isGroupedAlike(const sweep::SweepPoint &a, const sweep::SweepPoint &b) {
  std::map<int, int> there, back;
  const auto isSame = [&](int one, int other) {
    return there.try_emplace(one, other).first->second == other &&
           back.try_emplace(other, one).first->second == one;
  };
  for (std::size_t i = 0; i < a.messages.size(); ++i)
    if (!std::ranges::equal(a.messages[i], b.messages[i], isSame))
      return false;
  return true;
}

/// "3 messages instead of 5"; empty where gradients travel in the same groups and, in an order, in
/// the same sequence.
std::string otherGrouping(const sweep::SweepPoint &before, const sweep::SweepPoint &after) {
  if (!isGroupedAlike(before, after))
    return before.messageCount() == after.messageCount()
               ? "other groups in " + std::to_string(after.messageCount()) + " messages"
               : std::to_string(after.messageCount()) + " messages instead of " +
                     std::to_string(before.messageCount());
  const bool isOrder = after.overlap == sweep::Overlap::step && before.overlap == after.overlap;
  return isOrder && before.messages != after.messages ? "the same messages in another order" : "";
}

/// "fc6, fc7: ring to factors; 3 messages in place of 5"; empty where nothing differs, or one of
/// the two sends nothing.
std::string differences(const sweep::Sweep &sweep, const sweep::SweepPoint &before,
                        const sweep::SweepPoint &after) {
  if (!before.sends() || !after.sends())
    return "";
  std::map<std::pair<Scheme, Scheme>, std::vector<std::string>> changed;
  for (std::size_t i = 0; i < after.schemes.size(); ++i)
    if (before.schemes[i] != after.schemes[i])
      changed[{before.schemes[i], after.schemes[i]}].push_back(printable(sweep.gradients[i]));
  std::string text;
  for (const auto &[schemes, names] : changed)
    text += (text.empty() ? "" : "; ") + rangeSummary(names.front(), names.back(), names.size()) +
            " by " + std::string(schemeName(schemes.second)) + " instead of " +
            std::string(schemeName(schemes.first));
  const std::string grouping = otherGrouping(before, after);
  return text + (text.empty() || grouping.empty() ? "" : "; ") + grouping;
}

/// "most samples/s: 5120 at batch 128"; nothing where they are unknown or there is one point.
std::string bestText(const sweep::Sweep &sweep) {
  const auto best = std::ranges::max_element(
      sweep.points, [](const sweep::SweepPoint &one, const sweep::SweepPoint &other) {
        return isMore(throughputOf(other).samplesPerSecond(), throughputOf(one).samplesPerSecond());
      });
  const double rate = throughputOf(*best).samplesPerSecond();
  return rate <= 0 || sweep.points.size() == 1
             ? ""
             : "most samples/s: " + formatRate(rate) + " at " +
                   std::string(sweep::axisName(sweep.axis.kind)) + " " +
                   sweep::axisValue(sweep.axis, best->value) + "\n";
}

/// How decisions differ from point to point.
std::string crossoversText(const sweep::Sweep &sweep) {
  if (!sweep.replanned)
    return "\ndecisions are the plan's at every point\n";
  std::string crossovers;
  for (std::size_t i = 1; i < sweep.points.size(); ++i)
    if (std::string what = differences(sweep, sweep.points[i - 1], sweep.points[i]); !what.empty())
      crossovers +=
          "  at " + sweep::axisValue(sweep.axis, sweep.points[i].value) + ": " + what + "\n";
  return crossovers.empty() ? "\nplanned anew at every point; the decisions are the same\n"
                            : "\nplanned anew at every point; decisions change\n" + crossovers;
}

} // namespace

std::string csvCell(const sweep::SweepAxis &axis, double value) {
  return axis.isNamed() ? sweep::axisValue(axis, value) : number(sweep::csvValue(axis.kind, value));
}

const char *const csvPointColumns =
    "step_s,compute_s,exposed_s,communication_end_s,messages,samples_per_s,efficiency,"
    "planned_overlap,gap,left_out\n";

std::string csvPoint(const sweep::SweepPoint &point) {
  const Throughput rate = throughputOf(point);
  auto known = [](double value) { return value > 0 ? number(value) : std::string(); };
  return number(point.step) + "," + number(point.compute) + "," + number(point.exposed) + "," +
         number(point.communicationEnd) + "," + std::to_string(point.messageCount()) + "," +
         known(rate.samplesPerSecond()) + "," + known(rate.efficiency()) + "," + overlapOf(point) +
         "," + (point.gap ? number(*point.gap) : "") + ",\n";
}

std::string csvSkipped(const sweep::SkippedValue &value) {
  return ",,,,,,,,," + files::csvQuoted(value.reason) + "\n";
}

std::vector<SweptValue> sweptValues(const sweep::Sweep &sweep) {
  std::vector<SweptValue> values;
  for (const sweep::SweepPoint &point : sweep.points)
    values.push_back({point.value, &point, nullptr});
  for (const sweep::SkippedValue &skipped : sweep.skipped)
    values.push_back({skipped.value, nullptr, &skipped});
  std::ranges::sort(values, {}, &SweptValue::value);
  return values;
}

std::string leftOutText(const sweep::Sweep &sweep, const std::string &where) {
  std::string text;
  for (std::size_t i = 0; i < sweep.skipped.size();) {
    const std::string &reason = sweep.skipped[i].reason;
    text += "left out: " + std::string(sweep::axisName(sweep.axis.kind));
    for (const char *before = " "; i < sweep.skipped.size() && sweep.skipped[i].reason == reason;
         before = ", ")
      text += before + sweep::axisValue(sweep.axis, sweep.skipped[i++].value);
    text += where + ": " + reason + "\n";
  }
  return text;
}

/// breakEvenText() without the end of its line. Precondition: something is known.
static std::string breakEvenSentence(const sweep::Sweep &sweep) {
  using Kind = sweep::BreakEven::Kind;
  const sweep::BreakEven &found = *sweep.breakEven;
  auto at = [&](double value) {
    return std::string(sweep::axisName(sweep.axis.kind)) + " " +
           sweep::axisValue(sweep.axis, value);
  };
  const std::string above = "above " + files::formatNumber(100 * found.threshold, 4) + " %";
  switch (found.kind) {
  case Kind::never:
    return "efficiency is nowhere " + above + "; the most is " + percent(found.share) + ", at " +
           at(found.best);
  case Kind::everywhere:
    return "efficiency is " + above + " everywhere; the least is " + percent(found.share) +
           ", at " + at(found.best);
  case Kind::from:
    return "from " + at(found.at) + " on efficiency is " + above;
  case Kind::upTo:
    return "up to " + at(found.at) + " efficiency is " + above;
  case Kind::notMonotone:
    break;
  }
  std::string where;
  for (const sweep::SweepPoint &point : sweep.points)
    if (point.efficiency() > found.threshold)
      where += (where.empty() ? "" : ", ") + sweep::axisValue(sweep.axis, point.value);
  return "efficiency passes " + files::formatNumber(100 * found.threshold, 4) +
         " % more than once; it is above at " + std::string(sweep::axisName(sweep.axis.kind)) +
         " " + where;
}

std::string breakEvenText(const sweep::Sweep &sweep) {
  if (!sweep.breakEven)
    return "";
  return breakEvenSentence(sweep) +
         (sweep.skipped.empty() ? "\n" : "; unknown where values are left out\n");
}

Throughput throughputOf(const sweep::SweepPoint &point) {
  return {point.ranks, point.samples, point.step, point.alone};
}

std::string sweepTable(const sweep::Sweep &sweep) {
  Table table({{std::string(sweep::axisName(sweep.axis.kind)), Align::right},
               {"step", Align::right},
               {"compute", Align::right},
               {"exposed", Align::right},
               {"", Align::right},
               {"samples/s", Align::right},
               {"efficiency", Align::right},
               {"messages", Align::right},
               {"overlap"},
               {"gap", Align::right},
               {"gradients by scheme"}});
  bool hasWhole = false;
  for (const sweep::SweepPoint &point : sweep.points) {
    hasWhole |= point.hasWhole;
    const Throughput rate = throughputOf(point);
    table.addRow({sweep::axisValue(sweep.axis, point.value), formatSeconds(point.step, 4),
                  formatSeconds(point.compute), formatSeconds(point.exposed),
                  percent(point.step > 0 ? point.exposed / point.step : 0),
                  rate.samplesPerSecond() > 0 ? formatRate(rate.samplesPerSecond()) : "-",
                  rate.efficiency() > 0 ? percent(rate.efficiency()) : "-",
                  std::to_string(point.messageCount()) + (point.hasWhole ? "*" : ""),
                  point.sends() ? overlapOf(point) : "-", point.gap ? percent(*point.gap) : "-",
                  schemeSummary(point)});
  }
  std::string text = table.toString();
  if (hasWhole)
    text += "* too long to simulate round by round: messages take the time that planners give "
            "them\n";
  return text + leftOutText(sweep) +
         "compute: of the slowest rank, without waiting; exposed: the rank that waits least waits "
         "so long for messages;\n" +
         "overlap: messages hide behind the backward pass, or (step) behind the next forward pass "
         "too; gap: of the\nplanned step to the proved bound\n" +
         throughputMeaning + "\n" + bestText(sweep) + breakEvenText(sweep) + crossoversText(sweep);
}

std::string sweepCsv(const sweep::Sweep &sweep) {
  std::string text = std::string(sweep::csvColumn(sweep.axis.kind)) + "," + csvPointColumns;
  for (const SweptValue &value : sweptValues(sweep))
    text += csvCell(sweep.axis, value.value) + "," +
            (value.point ? csvPoint(*value.point) : csvSkipped(*value.skipped));
  return text;
}

} // namespace syncline::report
