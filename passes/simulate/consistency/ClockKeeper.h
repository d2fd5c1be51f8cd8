// ClockKeeper: which workers may go on, from the ticks of all workers. It has no time of its own.
#pragma once

#include "passes/simulate/consistency/WorkerScenario.h"

#include <cstdint>
#include <vector>

namespace syncline::simulate {

/// The rules of ssp, asp and dssp. Not thread-safe.
class ClockKeeper {
public:
  /// A worker that may go on, and the steps that every worker had done by then.
  struct Grant {
    int worker = 0;
    std::int64_t least = 0;
  };

  /// Precondition: a form of these three.
  ClockKeeper(const Consistency &consistency, int workers);

  /// Counts a step of the worker at this time, and returns who may go on now: the worker itself, or
  /// workers held before, or both, or nobody. Times never decrease.
  std::vector<Grant> tick(int worker, double now);

  /// The steps by which a worker is ahead of the slowest one.
  std::int64_t lead(int worker) const { return clocks[worker] - least(); }

private:
  struct Pushes {
    double last = 0, before = 0;
    int count = 0;
    double interval() const { return last - before; }
  };
  std::int64_t least() const;
  bool mayGoOn(int worker);
  std::int64_t extraSteps(int worker) const;

  Consistency consistency;
  std::vector<std::int64_t> clocks;
  std::vector<std::int64_t> extra; ///< steps that dssp has granted and that are left
  std::vector<Pushes> pushes;
  std::vector<int> held;
};

} // namespace syncline::simulate
