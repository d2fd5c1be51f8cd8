// Compares four simulations: two orders of messages, with late ranks and without.
#include "frontend/report/LateRanks.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace syncline::report {

namespace {

using files::formatSeconds;
using simulate::Operation;
using simulate::Scenario;
using simulate::Simulation;

/// Seconds a step for which a rank waits for each message in all micro-batches, mean of the ranks.
std::vector<double> waitsOf(const Scenario &scenario, const Simulation &simulation) {
  std::vector<double> waits(scenario.messages.size());
  for (int step = simulation.warmUp; step < simulation.steps; ++step)
    for (int rank = 0; rank < simulation.ranks; ++rank)
      for (std::size_t i = 0; i < simulation.operationCount; ++i)
        if (const Operation &op = scenario.operations[i]; op.kind == Operation::Kind::wait) {
          const simulate::Span &span = simulation.operation(step, rank, i);
          const int inLastMicroBatch =
              scenario.messages[static_cast<std::size_t>(op.message)].inLastMicroBatch;
          waits[static_cast<std::size_t>(inLastMicroBatch < 0 ? op.message : inLastMicroBatch)] +=
              span.end - span.start;
        }
  for (double &wait : waits)
    wait /= static_cast<double>(simulation.counted()) * simulation.ranks;
  return waits;
}

double sumOf(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum;
}

void addWaits(LateRanks &found, const Scenario &scenario, const std::vector<double> &late,
              const std::vector<double> &calm) {
  constexpr std::size_t most = 3;
  found.waiting = sumOf(late);
  found.calmWaiting = sumOf(calm);
  for (std::size_t i = 0; i < late.size(); ++i)
    if (late[i] - calm[i] > 1e-3 * found.waiting)
      found.waits.push_back({scenario.messages[i].name, late[i] - calm[i]});
  std::ranges::stable_sort(found.waits, std::greater(), &LateRanks::Wait::more);
  found.waits.resize(std::min(found.waits.size(), most));
}

Result<double> stepOf(const Scenario &scenario) {
  SYNCLINE_TRY_GET(simulation, simulate::runScenario(scenario));
  return simulation->stepSeconds();
}

/// "+31.25 %", "-0.10 %".
std::string change(double before, double after) {
  const double share = before > 0 ? after / before - 1 : 0;
  return (share < 0 ? "-" : "+") + percent(std::abs(share));
}

std::string gainText(double gain) {
  return gain < 0 ? "costs " + formatSeconds(-gain) : "saves " + formatSeconds(gain);
}

} // namespace

Result<LateRanks> compareLateRanks(const TwoOrders &late, const Simulation &simulation,
                                   const TwoOrders &calm) {
  SYNCLINE_TRY_GET(undisturbed, simulate::runScenario(calm.planned));
  const Result<double> ready = stepOf(late.ready), calmReady = stepOf(calm.ready);
  if (!ready || !calmReady)
    return ready ? calmReady.status() : ready.status();
  LateRanks found{.step = simulation.stepSeconds(),
                  .calmStep = undisturbed->stepSeconds(),
                  .readyStep = *ready,
                  .calmReadyStep = *calmReady};
  addWaits(found, late.planned, waitsOf(late.planned, simulation),
           waitsOf(calm.planned, *undisturbed));
  return found;
}

std::string lateRanksText(const LateRanks &late) {
  std::string text = "late ranks: step " + formatSeconds(late.calmStep, 4) + " -> " +
                     formatSeconds(late.step, 4) + " (" + change(late.calmStep, late.step) +
                     "); a rank waits " + formatSeconds(late.calmWaiting) + " -> " +
                     formatSeconds(late.waiting) + " a step for messages, on average\n";
  for (std::size_t i = 0; i < late.waits.size(); ++i)
    text += (i == 0 ? "it waits longer for " : ", ") + printable(late.waits[i].name) + " (+" +
            formatSeconds(late.waits[i].more) + ")";
  return text + (late.waits.empty() ? "" : "\n") +
         "messages travel in the plan's order: one that is late on a rank holds up those behind "
         "it. Sent as their\ngradients become ready, the same messages would take " +
         formatSeconds(late.calmReadyStep, 4) + " -> " + formatSeconds(late.readyStep, 4) +
         ": the plan's order " + gainText(late.calmGain()) + " a step without late ranks and " +
         gainText(late.gain()) + " with them\n";
}

nlohmann::json lateRanksJson(const LateRanks &late) {
  nlohmann::json waits = nlohmann::json::array();
  for (const LateRanks::Wait &wait : late.waits)
    waits.push_back({{"name", wait.name}, {"more", wait.more}});
  return {{"step_without", late.calmStep},
          {"ready_order", late.readyStep},
          {"ready_order_without", late.calmReadyStep},
          {"waiting", late.waiting},
          {"waiting_without", late.calmWaiting},
          {"longer_waits", std::move(waits)}};
}

} // namespace syncline::report
