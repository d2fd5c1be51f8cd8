// Workers: who computes which step, how long, and how old the weights are that it computes with.
#pragma once

#include "passes/simulate/consistency/ActionQueue.h"
#include "passes/simulate/consistency/WorkerScenario.h"

#include <cstdint>
#include <map>
#include <vector>

namespace syncline::simulate {

/// A worker does its steps one by one: begin(), computeStep(), finish(). It waits whenever it does
/// not compute.
class Workers {
public:
  Workers(const WorkerScenario &scenario, ActionQueue &queue);

  int count() const { return static_cast<int>(workers.size()); }
  /// Steps that the worker has finished.
  std::int64_t clock(int worker) const { return workers[worker].clock; }
  /// Begins a step with weights that contain all steps below `contained` of all other workers.
  void begin(int worker, std::int64_t contained);
  void computeStep(int worker, ActionQueue::Action done);
  /// From now on the worker computes at this part (0 to 1] of its speed.
  void setSpeed(int worker, double part);
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
    double before = 0;       ///< seconds of earlier computations
    bool isComputed = false; ///< this step, though it is not finished
    double speed = 1;
    double begun = 0;              ///< when the computation under way began
    double left = 0, since = 0;    ///< of it at full speed, and when that was so
    ActionQueue::Action done;      ///< null while the worker does not compute
    std::uint64_t predictions = 0; ///< of computations' ends; only the last one holds
  };
  double stepSeconds(int worker) const;
  /// Has the computation end when its rest is done at the worker's speed.
  void predictEnd(int worker);
  void end(int worker);
  double leftOf(const Worker &worker) const;

  const WorkerScenario &scenario;
  ActionQueue &queue;
  std::vector<Worker> workers;
  std::map<std::int64_t, std::int64_t> counts;
  std::int64_t mostLead = 0;
  int unfinished;
};

/// The part of its speed that a worker loses while messages fill its link in both directions: they
/// take 1 - 1/interference of its processor's time, of a slower processor `slowdown` times as much.
/// At least a tenth is left.
double lostBesideMessages(const Machines &machines, int worker);

} // namespace syncline::simulate
