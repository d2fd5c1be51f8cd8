// WorkerSimulation: a consistency in virtual time, and what it trades: time a step for staleness.
// Nothing here says how a loss falls.
#pragma once

#include "passes/simulate/consistency/WorkerScenario.h"

#include <cstdint>
#include <vector>

namespace syncline::simulate {

/// Weights with which a step computes lag by so many steps of other workers. A step's lag is the
/// worker's own steps less those of each other worker that its weights contain, for the worker that
/// lags most. 0 where none lags.
struct Staleness {
  double mean = 0;
  std::int64_t most95 = 0; ///< 95 % of all steps have at most this
  std::int64_t largest = 0;
};

struct WorkerSimulation {
  double seconds = 0;          ///< until every worker had done the scenario's steps
  std::vector<double> steps;   ///< of each worker; the last one in part
  std::vector<double> waiting; ///< part of the time in which each worker did not compute
  Staleness staleness;
  std::int64_t largestLead = 0; ///< steps by which a worker that began one was ahead of the slowest
  double traffic = 0;           ///< bytes that a worker's machine sends and receives a step
  double serverLoad = 0;        ///< part of the servers' bandwidth that is used
  double lockLoad = 0;          ///< part of the time in which a shard is being added to

  /// Steps a second of all workers together.
  double stepRate() const;
  /// The mean seconds of a worker's step: workers over stepRate().
  double stepSeconds() const { return static_cast<double>(steps.size()) / stepRate(); }
  /// The part of all workers' time in which they did not compute.
  double waitingShare() const;
};

/// Simulates the scenario until every worker has done its steps and may begin another one.
/// Deterministic. Returns badInput where the scenario is not valid. Time: about a microsecond for
/// each message, times the workers whose messages are under way with it.
Result<WorkerSimulation> runWorkers(const WorkerScenario &scenario);

} // namespace syncline::simulate
