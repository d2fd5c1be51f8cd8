// Compares three simulations: with slow ranks, without, and with fewer samples for slow ranks.
#include "frontend/report/Stragglers.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Throughput.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>

namespace syncline::report {

namespace {

using files::formatSeconds;
using simulate::Operation;
using simulate::Scenario;
using simulate::Simulation;

double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<SlowRanks> groupsOf(const std::vector<double> &slowdown, double usual) {
  std::map<double, std::vector<int>, std::greater<>> ranks;
  for (std::size_t rank = 0; rank < slowdown.size(); ++rank)
    if (slowdown[rank] > usual * (1 + 1e-9))
      ranks[slowdown[rank] / usual].push_back(static_cast<int>(rank));
  std::vector<SlowRanks> groups;
  for (auto &[times, members] : ranks)
    groups.push_back({.ranks = std::move(members), .slowdown = times});
  return groups;
}

/// Chooses the share of samples with which the group's passes end with the other ranks'.
void balance(SlowRanks &group, std::optional<std::int64_t> samples) {
  group.share = 1 / group.slowdown;
  if (!samples)
    return;
  const auto all = static_cast<double>(*samples);
  group.batch = static_cast<std::int64_t>(group.share * all * (1 + 1e-9));
  group.share = static_cast<double>(group.batch) / all;
}

double waitOf(const Scenario &scenario, const Simulation &simulation, int rank) {
  double seconds = 0;
  for (int step = simulation.warmUp; step < simulation.steps; ++step)
    for (std::size_t i = 0; i < simulation.operationCount; ++i)
      if (scenario.operations[i].kind == Operation::Kind::wait) {
        const simulate::Span &span = simulation.operation(step, rank, i);
        seconds += span.end - span.start;
      }
  return seconds / simulation.counted();
}

void readWaits(Stragglers &found, const Scenario &scenario, const Simulation &simulation,
               double usual) {
  bool isFirst = true;
  for (int rank = 0; rank < simulation.ranks; ++rank) {
    if (scenario.machines.slowdownOf(rank) > usual * (1 + 1e-9))
      continue;
    const double wait = waitOf(scenario, simulation, rank);
    found.minWait = isFirst ? wait : std::min(found.minWait, wait);
    found.maxWait = std::max(found.maxWait, wait);
    isFirst = false;
  }
}

Result<double> stepOf(Scenario scenario) {
  SYNCLINE_TRY_GET(simulation, simulate::runScenario(scenario));
  return simulation->stepSeconds();
}

/// "rank 3", "ranks 0 to 2", "ranks 1, 5 and 7", "12 ranks from 4 on".
std::string rankList(const std::vector<int> &ranks) {
  const std::string first = std::to_string(ranks.front()), last = std::to_string(ranks.back());
  if (ranks.size() == 1)
    return "rank " + first;
  if (static_cast<std::size_t>(ranks.back() - ranks.front()) + 1 == ranks.size())
    return "ranks " + first + (ranks.size() == 2 ? " and " : " to ") + last;
  if (ranks.size() > 6)
    return std::to_string(ranks.size()) + " ranks from " + first + " to " + last;
  std::string text = "ranks " + first;
  for (std::size_t i = 1; i < ranks.size(); ++i)
    text += (i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  return text;
}

std::string times(double value) { return files::formatNumber(value, 4); }

std::vector<int> othersOf(const Stragglers &stragglers, int ranks) {
  std::vector<bool> isSlow(static_cast<std::size_t>(ranks), false);
  for (const SlowRanks &group : stragglers.groups)
    for (int rank : group.ranks)
      isSlow[static_cast<std::size_t>(rank)] = true;
  std::vector<int> others;
  for (int rank = 0; rank < ranks; ++rank)
    if (!isSlow[static_cast<std::size_t>(rank)])
      others.push_back(rank);
  return others;
}

/// "a batch of 21 on rank 3 (of 32) evens it out: 70.1 ms, 1670 samples/s in place of 1281".
std::string advice(const Stragglers &stragglers, int ranks, std::optional<std::int64_t> samples,
                   std::int64_t microBatches) {
  if (!stragglers.balanced)
    return "even one sample there takes longer than the others' batch\n";
  std::string text;
  double missing = 0;
  for (const SlowRanks &group : stragglers.groups) {
    text += (text.empty() ? "" : ", ") +
            (samples ? "a batch of " + std::to_string(group.batch)
                     : percent(group.share) + " of the others' batch") +
            " on " + rankList(group.ranks);
    missing += (1 - group.share) * static_cast<double>(group.ranks.size());
  }
  text += samples ? " in place of " + std::to_string(*samples) : "";
  text += " evens it out: step " + formatSeconds(*stragglers.balanced, 4);
  if (!samples)
    return text + "\n";
  const auto batch = static_cast<double>(*samples * microBatches);
  return text + ", " + formatRate((ranks - missing) * batch / *stragglers.balanced) +
         " samples/s in place of " + formatRate(ranks * batch / stragglers.step) + "\n";
}

} // namespace

Result<std::optional<Stragglers>> findStragglers(const Scenario &scenario,
                                                 const Simulation &simulation,
                                                 std::optional<std::int64_t> samples) {
  const std::vector<double> &slowdown = scenario.machines.slowdown;
  if (slowdown.empty())
    return std::optional<Stragglers>();
  const double usual = medianOf(slowdown);
  Stragglers found{.groups = groupsOf(slowdown, usual), .step = simulation.stepSeconds()};
  if (found.groups.empty())
    return std::optional<Stragglers>();
  readWaits(found, scenario, simulation, usual);
  Scenario other = scenario;
  for (double &factor : other.machines.slowdown)
    factor = std::min(factor, usual);
  SYNCLINE_TRY_GET(without, stepOf(other));
  found.without = *without;

  other = scenario;
  other.machines.share.assign(slowdown.size(), 1);
  bool canBalance = true;
  for (SlowRanks &group : found.groups) {
    balance(group, samples);
    canBalance &= group.share > 0;
    for (int rank : group.ranks)
      other.machines.share[static_cast<std::size_t>(rank)] = group.share;
  }
  if (!canBalance)
    return std::optional(found);
  SYNCLINE_TRY_GET(balanced, stepOf(other));
  found.balanced = *balanced;
  return std::optional(found);
}

std::string stragglersText(const Stragglers &stragglers, int ranks,
                           std::optional<std::int64_t> samples, std::int64_t microBatches) {
  std::string text;
  for (const SlowRanks &group : stragglers.groups)
    text += (text.empty() ? "" : ", ") + rankList(group.ranks) +
            (group.ranks.size() == 1 ? " computes " : " compute ") + times(group.slowdown) +
            " times as long";
  text += ": step " + formatSeconds(stragglers.without, 4) + " -> " +
          formatSeconds(stragglers.step, 4) + " (+" +
          percent(stragglers.step / stragglers.without - 1) + "); ";
  const std::vector<int> others = othersOf(stragglers, ranks);
  text += rankList(others) + (others.size() == 1 ? " waits " : " wait ") +
          formatSeconds(stragglers.minWait);
  if (formatSeconds(stragglers.minWait) != formatSeconds(stragglers.maxWait))
    text += " to " + formatSeconds(stragglers.maxWait);
  return text + " a step for messages\n" + advice(stragglers, ranks, samples, microBatches);
}

nlohmann::json stragglersJson(const std::optional<Stragglers> &stragglers) {
  if (!stragglers)
    return nullptr;
  nlohmann::json groups = nlohmann::json::array();
  for (const SlowRanks &group : stragglers->groups)
    groups.push_back({{"ranks", group.ranks},
                      {"slowdown", group.slowdown},
                      {"batch_share", group.share},
                      {"batch", group.batch > 0 ? nlohmann::json(group.batch) : nullptr}});
  return {{"groups", std::move(groups)},
          {"step_without", stragglers->without},
          {"others_wait", {stragglers->minWait, stragglers->maxWait}},
          {"step_balanced",
           stragglers->balanced ? nlohmann::json(*stragglers->balanced) : nlohmann::json()}};
}

} // namespace syncline::report
