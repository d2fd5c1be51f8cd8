// Whether a simulation's results fit into memory, asked before it runs.
#pragma once

#include "passes/simulate/Scenario.h"
#include "syncline/Status.h"

namespace syncline::simulate {

/// What is made of the results, besides sums.
struct Wanted {
  bool path = false;  ///< the critical path through all steps
  bool trace = false; ///< every operation and message of every rank
};

/// Results keep when every operation and message of every step began and ended, on every rank
/// unless one stands for all. Errors: badInput beyond 40 million of them (about 1 GB), 2 million on
/// one rank where their path is wanted, 4 million where they are written to a trace.
Status expectFits(const simulate::Scenario &scenario, const Wanted &wanted);

} // namespace syncline::simulate
