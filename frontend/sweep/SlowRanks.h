// Ranks that `--slow` slows.
#pragma once

#include "passes/simulate/Scenario.h"
#include "syncline/Status.h"

#include <span>
#include <utility>

namespace syncline::sweep {

/// Slows ranks of the machines by factors, beside what slows them already. Errors: badInput for a
/// rank that there is not.
Status slowRanks(simulate::Machines &machines, std::span<const std::pair<int, double>> slow);

} // namespace syncline::sweep
