// SimulationSize: checks, before a simulation runs, that its results fit into memory.
#pragma once

#include "passes/simulate/Scenario.h"
#include "syncline/Status.h"

namespace syncline::simulate {

/// The results that are wanted besides sums.
struct Wanted {
  bool path = false;  ///< the critical path through all steps
  bool trace = false; ///< every operation and message of every rank
};

/// Checks the number of results: the times of every operation and message of every step, on every
/// rank unless one stands for all. A step has `microBatches` times the scenario's. Returns badInput
/// beyond 40 million of them (about 1 GB), beyond 2 million on one rank where the path is wanted or
/// there are several micro-batches, or beyond 4 million where a trace is wanted.
Status expectFits(const simulate::Scenario &scenario, const Wanted &wanted,
                  std::int64_t microBatches = 1);

} // namespace syncline::simulate
