// A sweep's points, and where they differ.
#include "frontend/driver/SweepReport.h"

#include "frontend/driver/PlanText.h"
#include "frontend/driver/Table.h"
#include "frontend/files/FormatUnits.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace syncline::driver {

using files::formatSeconds;

int SweepPoint::messageCount() const {
  return static_cast<int>(std::set<int>(messages.begin(), messages.end()).size());
}

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// "ring 12, factors 3": gradients by scheme.
std::string schemeSummary(const SweepPoint &point) {
  std::string text;
  for (solver::Scheme scheme : solver::allSchemes())
    if (auto count = std::ranges::count(point.schemes, scheme); count > 0)
      text += (text.empty() ? "" : ", ") + std::string(solver::schemeName(scheme)) + " " +
              std::to_string(count);
  return text;
}

/// Groups of gradients that travel together, numbers apart.
bool isGroupedAlike(const SweepPoint &a, const SweepPoint &b) {
  std::map<int, int> there, back;
  for (std::size_t i = 0; i < a.messages.size(); ++i)
    if (there.try_emplace(a.messages[i], b.messages[i]).first->second != b.messages[i] ||
        back.try_emplace(b.messages[i], a.messages[i]).first->second != a.messages[i])
      return false;
  return true;
}

/// "fc6, fc7: ring to factors; 3 messages in place of 5"; empty where nothing differs.
std::string differences(const Sweep &sweep, const SweepPoint &before, const SweepPoint &after) {
  std::map<std::pair<solver::Scheme, solver::Scheme>, std::vector<std::string>> changed;
  for (std::size_t i = 0; i < after.schemes.size(); ++i)
    if (before.schemes[i] != after.schemes[i])
      changed[{before.schemes[i], after.schemes[i]}].push_back(printable(sweep.gradients[i]));
  std::string text;
  for (const auto &[schemes, names] : changed)
    text += (text.empty() ? "" : "; ") + rangeSummary(names.front(), names.back(), names.size()) +
            " by " + std::string(solver::schemeName(schemes.second)) + " instead of " +
            std::string(solver::schemeName(schemes.first));
  if (!isGroupedAlike(before, after)) {
    text += text.empty() ? "" : "; ";
    if (before.messageCount() == after.messageCount())
      text += "other groups in " + std::to_string(after.messageCount()) + " messages";
    else
      text += std::to_string(after.messageCount()) + " messages instead of " +
              std::to_string(before.messageCount());
  }
  return text;
}

} // namespace

std::string sweepTable(const Sweep &sweep) {
  Table table({{std::string(axisName(sweep.axis.kind)), Align::right},
               {"step", Align::right},
               {"compute", Align::right},
               {"exposed", Align::right},
               {"", Align::right},
               {"messages", Align::right},
               {"gradients by scheme"}});
  bool hasWhole = false;
  for (const SweepPoint &point : sweep.points) {
    hasWhole |= point.hasWhole;
    table.addRow({axisValue(sweep.axis.kind, point.value), formatSeconds(point.step, 4),
                  formatSeconds(point.compute), formatSeconds(point.exposed),
                  percent(point.step > 0 ? point.exposed / point.step : 0),
                  std::to_string(point.messageCount()) + (point.hasWhole ? "*" : ""),
                  schemeSummary(point)});
  }
  std::string text = table.toString();
  if (hasWhole)
    text += "* too long to simulate round by round: messages take the time that planners give "
            "them\n";
  if (!sweep.replanned)
    return text + "\ndecisions are the plan's at every point\n";
  std::string flips;
  for (std::size_t i = 1; i < sweep.points.size(); ++i)
    if (std::string what = differences(sweep, sweep.points[i - 1], sweep.points[i]); !what.empty())
      flips += "  at " + axisValue(sweep.axis.kind, sweep.points[i].value) + ": " + what + "\n";
  return text + (flips.empty() ? "\nplanned anew at every point; the decisions are the same\n"
                               : "\nplanned anew at every point; decisions change\n" + flips);
}

std::string sweepCsv(const Sweep &sweep) {
  std::string text =
      std::string(axisName(sweep.axis.kind)) + ",step,compute,exposed,communication_end,messages\n";
  for (const SweepPoint &point : sweep.points)
    text += number(point.value) + "," + number(point.step) + "," + number(point.compute) + "," +
            number(point.exposed) + "," + number(point.communicationEnd) + "," +
            std::to_string(point.messageCount()) + "\n";
  return text;
}

} // namespace syncline::driver
