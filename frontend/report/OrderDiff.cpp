// Compares when the gradients of two plans arrive.
#include "frontend/report/OrderDiff.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/OrderText.h"
#include "frontend/report/PlanText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

namespace syncline::report {

namespace {

using files::formatSeconds;
using nlohmann::json;

/// When the last part of each gradient is there, in seconds from the beginning of the step that
/// issues it.
std::map<std::string, double> arrivalsOf(const json &plan) {
  std::map<std::string, double> arrivals;
  for (const json &bucket : plan.at("buckets"))
    for (const std::string name : bucket.at("members")) {
      double &arrival = arrivals[name];
      arrival = std::max(arrival, bucket.at("reconstructed").get<double>());
    }
  return arrivals;
}

/// Neighbouring gradients that arrive together in either plan.
struct Arrival {
  std::string first, last;
  std::size_t count = 1;
  double left = 0, right = 0;

  double later() const { return right - left; }
};

std::vector<Arrival> arrivalsOf(const json &left, const json &right) {
  const std::map<std::string, double> here = arrivalsOf(left), there = arrivalsOf(right);
  std::vector<Arrival> found;
  for (const json &layer : left.at("layers")) {
    const std::string name = layer.at("name");
    if (!here.contains(name) || !there.contains(name))
      continue;
    const Arrival arrival{name, name, 1, here.at(name), there.at(name)};
    if (!found.empty() && found.back().left == arrival.left &&
        found.back().right == arrival.right) {
      found.back().last = name;
      ++found.back().count;
    } else {
      found.push_back(arrival);
    }
  }
  return found;
}

/// "12 gradients arrive earlier in b.plan and 3 later".
std::string countText(const std::vector<Arrival> &changed, const std::string &name) {
  std::size_t earlier = 0, later = 0;
  for (const Arrival &arrival : changed)
    (arrival.later() < 0 ? earlier : later) += arrival.count;
  const auto gradients = [](std::size_t count) { return files::counted(count, "gradient"); };
  std::string text = "in " + name + " ";
  if (earlier > 0)
    text += gradients(earlier) + (earlier == 1 ? " arrives" : " arrive") + " earlier";
  if (later > 0)
    text += (earlier > 0 ? ", " + std::to_string(later)
                         : gradients(later) + (later == 1 ? " arrives" : " arrive")) +
            " later";
  return text + "\n";
}

} // namespace

std::string ratio(double before, double after) {
  if (before == after)
    return "1.00x";
  if (before == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", after / before);
  return text;
}

void addOrderRows(Table &table, const json &left, const json &right) {
  const UnderWay here = underWay(left), there = underWay(right);
  const auto add = [&](const char *title, double a, double b) {
    table.addRow({title, formatSeconds(a), formatSeconds(b), ratio(a, b)});
  };
  add("under way behind the backward pass", here.behindBackward, there.behindBackward);
  add("under way after it", here.after, there.after);
  const json &a = left.at("predicted").at("planner"), &b = right.at("predicted").at("planner");
  add("step in the planner's model", a.at("step"), b.at("step"));
  table.addRow({"gap to the bound", percent(a.at("gap")), percent(b.at("gap")), ""});
}

std::string orderDiff(const NamedPlan &left, const NamedPlan &right) {
  constexpr std::size_t most = 12;
  constexpr double least = 1e-3; // of the step; what is less is not worth a row
  if (!hasOrder(left.plan) && !hasOrder(right.plan))
    return "";
  const double step = left.plan.at("predicted").at("step");
  std::vector<Arrival> changed = arrivalsOf(left.plan, right.plan);
  std::erase_if(changed,
                [&](const Arrival &arrival) { return std::abs(arrival.later()) < least * step; });
  if (changed.empty())
    return "gradients arrive at the same times\n";
  const std::string count = countText(changed, right.name);
  std::ranges::stable_sort(changed, std::greater(),
                           [](const Arrival &arrival) { return std::abs(arrival.later()); });
  Table table({{"arrives"},
               {left.name, Align::right},
               {right.name, Align::right},
               {"change", Align::right}});
  for (std::size_t i = 0; i < std::min(changed.size(), most); ++i) {
    const Arrival &arrival = changed[i];
    table.addRow({rangeSummary(printable(arrival.first), printable(arrival.last), arrival.count),
                  formatSeconds(arrival.left), formatSeconds(arrival.right),
                  (arrival.later() < 0 ? "-" : "+") + formatSeconds(std::abs(arrival.later()))});
  }
  return "\n" + table.toString() +
         (changed.size() > most
              ? "and " + std::to_string(changed.size() - most) + " that change less\n"
              : "") +
         count;
}

} // namespace syncline::report
