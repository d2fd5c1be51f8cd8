// A judge of simulations that shares no line with passes/simulate: SimGrid.
#pragma once

#include "passes/simulate/Scenario.h"

#include <vector>

namespace syncline::simulate {

/// For each step, when each of its messages is over everywhere, then when the step is, in seconds.
/// Nothing where SimGrid failed. A process has one SimGrid, so each scenario runs in a process of
/// its own.
std::vector<double> judged(const Scenario &scenario);

} // namespace syncline::simulate
