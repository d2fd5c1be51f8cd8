// Workers: who computes which step, how long, and how old the weights are that it computes with.
#pragma once

#include "passes/simulate/consistency/EventQueue.h"
#include "passes/simulate/consistency/WorkerScenario.h"

#include <cstdint>
#include <map>
#include <vector>

namespace syncline::simulate {

/// A worker does its steps one by one: begin(), computeStep(), finish(). It waits whenever it does
/// not compute.
class Workers {
public:
  Workers(const WorkerScenario &scenario, EventQueue &queue);

  int count() const { return static_cast<int>(workers.size()); }
  /// Steps that the worker has finished.
  std::int64_t clock(int worker) const { return workers[worker].clock; }
  /// Begins a step with weights that contain all steps below `contained` of all other workers.
  void begin(int worker, std::int64_t contained);
  void computeStep(int worker, EventQueue::Action done);
  void finish(int worker) {
    ++workers[worker].clock;
    workers[worker].isComputed = false;
  }

  /// Whether every worker has done the scenario's steps and has begun another one.
  bool isOver() const { return unfinished == 0; }

  /// Steps done until now; of one under way the part that is computed.
  double progress(int worker) const;
  /// Seconds of computation until now.
  double computed(int worker) const;
  /// How many steps began with weights that lag others' by so many steps.
  const std::map<std::int64_t, std::int64_t> &staleness() const { return counts; }
  /// The most steps that a worker that began one had done beyond the slowest.
  std::int64_t largestLead() const { return mostLead; }

private:
  struct Worker {
    std::int64_t clock = 0;
    double before = 0;           ///< seconds of earlier computations
    bool isComputed = false;     ///< this step, though it is not finished
    double since = 0, until = 0; ///< of the computation under way
  };
  double stepSeconds(int worker) const;
  double running(const Worker &worker) const;

  const WorkerScenario &scenario;
  EventQueue &queue;
  std::vector<Worker> workers;
  std::map<std::int64_t, std::int64_t> counts;
  std::int64_t mostLead = 0;
  int unfinished;
};

} // namespace syncline::simulate
