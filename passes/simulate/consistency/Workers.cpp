// Steps of workers.
#include "passes/simulate/consistency/Workers.h"

#include "passes/simulate/Noise.h"

#include <algorithm>
#include <utility>

namespace syncline::simulate {

Workers::Workers(const WorkerScenario &scenario, ActionQueue &queue)
    : scenario(scenario), queue(queue), workers(static_cast<std::size_t>(scenario.machines.ranks)),
      unfinished(scenario.machines.ranks) {}

void Workers::begin(int worker, std::int64_t contained) {
  Worker &own = workers[worker];
  const auto least = std::ranges::min_element(workers, {}, &Worker::clock)->clock;
  mostLead = std::max(mostLead, own.clock - least);
  ++counts[std::max<std::int64_t>(0, own.clock - contained)];
  unfinished -= own.clock == scenario.steps;
}

double Workers::stepSeconds(int worker) const {
  const double stated = scenario.step * scenario.machines.slowdownOf(worker);
  const auto step = static_cast<std::uint64_t>(clock(worker));
  return stated * (1 + scenario.jitter *
                           noise(scenario.seed, static_cast<std::uint64_t>(worker) + (step << 20)));
}

void Workers::computeStep(int worker, ActionQueue::Action done) {
  Worker &own = workers[worker];
  own.begun = own.since = queue.now();
  own.left = stepSeconds(worker);
  own.done = std::move(done);
  predictEnd(worker);
}

void Workers::setSpeed(int worker, double part) {
  Worker &own = workers[worker];
  if (part == own.speed)
    return;
  own.left = leftOf(own);
  own.since = queue.now();
  own.speed = part;
  if (own.done)
    predictEnd(worker);
}

void Workers::predictEnd(int worker) {
  Worker &own = workers[worker];
  queue.after(own.left / own.speed, [this, worker, number = ++own.predictions] {
    if (workers[worker].predictions == number)
      end(worker);
  });
}

void Workers::end(int worker) {
  Worker &own = workers[worker];
  own.before += queue.now() - own.begun;
  own.isComputed = true;
  own.left = 0;
  const ActionQueue::Action done = std::exchange(own.done, nullptr);
  done();
}

double Workers::leftOf(const Worker &worker) const {
  return std::max(0.0, worker.left - (queue.now() - worker.since) * worker.speed);
}

double Workers::computed(int worker) const {
  const Worker &own = workers[worker];
  return own.before + (own.done ? queue.now() - own.begun : 0);
}

double Workers::progress(int worker) const {
  const Worker &own = workers[worker];
  const double part = own.isComputed ? 1 : own.done ? 1 - leftOf(own) / stepSeconds(worker) : 0;
  return static_cast<double>(own.clock) + part;
}

double lostBesideMessages(const Machines &machines, int worker) {
  return std::min(0.9, (1 - 1 / machines.interference) * machines.slowdownOf(worker));
}

} // namespace syncline::simulate
