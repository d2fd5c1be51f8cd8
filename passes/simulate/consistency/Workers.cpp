// Steps of workers.
#include "passes/simulate/consistency/Workers.h"

#include <algorithm>

namespace syncline::simulate {

/// A number evenly distributed in [-1, 1); equal for equal arguments (splitmix64).
static double noise(std::uint64_t seed, std::uint64_t worker, std::uint64_t step) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15 * (1 + worker + (step << 20));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

Workers::Workers(const WorkerScenario &scenario, EventQueue &queue)
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
  return stated * (1 + scenario.jitter * noise(scenario.seed, worker, step));
}

void Workers::computeStep(int worker, EventQueue::Action done) {
  const double seconds = stepSeconds(worker);
  workers[worker].since = queue.now();
  workers[worker].until = queue.now() + seconds;
  queue.after(seconds, [this, worker, seconds, done = std::move(done)] {
    Worker &own = workers[worker];
    own.before += seconds;
    own.isComputed = true;
    own.since = own.until = queue.now();
    done();
  });
}

double Workers::running(const Worker &worker) const {
  return std::clamp(queue.now(), worker.since, worker.until) - worker.since;
}

double Workers::computed(int worker) const {
  return workers[worker].before + running(workers[worker]);
}

double Workers::progress(int worker) const {
  const Worker &own = workers[worker];
  const double part = own.isComputed ? 1 : running(own) / stepSeconds(worker);
  return static_cast<double>(own.clock) + part;
}

} // namespace syncline::simulate
