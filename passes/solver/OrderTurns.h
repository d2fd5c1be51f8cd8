// OrderTurns: when factors travel, which no message can interrupt (README.md, "List scheduling").
#pragma once

#include "passes/solver/ListSchedule.h"

#include <span>
#include <vector>

namespace syncline::solver {

struct TurnsResult {
  OrderSolution solution;
  std::size_t schedules = 0; ///< list schedules that were made
};

/// The cheapest list schedule, by priceOf(), with messages of so many bytes, where factors may
/// travel sooner or later than their tails ask. Branches as Carlier does for jobs that cannot be
/// interrupted (1982), the shortest schedule first: behind the last moment at which the channel is
/// idle, some messages travel until the one that the period waits for. If one layer's factors among
/// them could have waited longer than that one, they are in the way of the messages between: they
/// should travel before all of these, or behind them all. Ends at `mostBranches`, or with a period
/// of at most `enough` seconds. Deterministic. Preconditions: chunks and mostBranches >= 1.
TurnsResult searchTurns(const Schedules &schedules, std::span<const std::int64_t> chunks,
                        std::size_t mostBranches, double enough);

} // namespace syncline::solver
