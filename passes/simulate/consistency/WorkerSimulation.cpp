// Runs one consistency's events and sums up.
#include "passes/simulate/consistency/WorkerSimulation.h"

#include "passes/simulate/consistency/FormRun.h"

#include <numeric>

namespace syncline::simulate {

using Form = Consistency::Form;

namespace {

std::unique_ptr<FormRun> create(const FormPlace &place) {
  const Consistency &consistency = place.scenario.consistency;
  if (!consistency.hasServers())
    return createCollectiveRun(place);
  return consistency.form == Form::easgd ? createElasticRun(place) : createBoundedRun(place);
}

Staleness summarize(const std::map<std::int64_t, std::int64_t> &counts) {
  std::int64_t all = 0;
  double sum = 0;
  for (auto [steps, count] : counts) {
    all += count;
    sum += static_cast<double>(steps) * static_cast<double>(count);
  }
  Staleness staleness{.mean = sum / static_cast<double>(all), .largest = counts.rbegin()->first};
  std::int64_t within = 0;
  for (auto [steps, count] : counts) {
    within += count;
    staleness.most95 = steps;
    if (static_cast<double>(within) >= 0.95 * static_cast<double>(all))
      break;
  }
  return staleness;
}

WorkerSimulation resultOf(const WorkerScenario &scenario, const FormPlace &place) {
  WorkerSimulation result;
  result.seconds = place.queue.now();
  result.staleness = summarize(place.workers.staleness());
  result.largestLead = place.workers.largestLead();
  for (int worker = 0; worker < place.workers.count(); ++worker) {
    result.steps.push_back(place.workers.progress(worker));
    result.waiting.push_back(1 - place.workers.computed(worker) / result.seconds);
  }
  if (!scenario.consistency.hasServers()) {
    result.traffic = scenario.exchangeTraffic / static_cast<double>(scenario.consistency.period);
    return result;
  }
  const double all = std::accumulate(result.steps.begin(), result.steps.end(), 0.0);
  // Without servers of their own, both ends of a message are workers' machines.
  result.traffic = place.links.bytesSent() / all * (scenario.machines.dedicated ? 1 : 2);
  result.serverLoad = place.links.load();
  result.lockLoad = place.links.lockLoad();
  return result;
}

/// Shares links anew, and slows workers by what their links then carry.
void settle(const FormPlace &place) {
  place.links.settle();
  const Machines &machines = place.scenario.machines;
  if (machines.interference == 1 || !place.scenario.consistency.hasServers())
    return;
  for (int worker = 0; worker < place.workers.count(); ++worker)
    place.workers.setSpeed(worker, 1 - lostBesideMessages(machines, worker) *
                                           place.links.trafficOf(worker));
}

/// Exchanges come in whole periods.
WorkerScenario inWholePeriods(WorkerScenario scenario) {
  const std::int64_t period = scenario.consistency.period;
  scenario.steps = (scenario.steps + period - 1) / period * period;
  return scenario;
}

} // namespace

double WorkerSimulation::stepRate() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0) / seconds;
}

double WorkerSimulation::waitingShare() const {
  return std::accumulate(waiting.begin(), waiting.end(), 0.0) / static_cast<double>(waiting.size());
}

Result<WorkerSimulation> runWorkers(const WorkerScenario &requested) {
  SYNCLINE_TRY(validate(requested));
  const WorkerScenario scenario = inWholePeriods(requested);
  SYNCLINE_TRY(validate(scenario));
  ActionQueue queue;
  Workers workers(scenario, queue);
  ServerLinks links(scenario.machines, scenario.bytes, queue);
  const FormPlace place{scenario, queue, workers, links};
  const std::unique_ptr<FormRun> run = create(place);
  run->start();
  settle(place);
  while (!workers.isOver()) {
    if (queue.isEmpty())
      return Status::error(ErrorKind::internal, "simulated workers wait for each other forever");
    const double before = queue.now();
    if (queue.nextTime() > before)
      settle(place);
    queue.step();
    if (queue.isEmpty())
      settle(place);
  }
  return resultOf(scenario, place);
}

} // namespace syncline::simulate
