// A plan's ranks by several consistencies, one simulation each.
#pragma once

#include "frontend/sweep/ConsistencySweep.h"
#include "frontend/sweep/SweepOptions.h"
#include "passes/simulate/ir/ReadScenario.h"

#include <cstdint>

namespace syncline::sweep {

/// Steps of every worker that are simulated where nothing is said: 1,000, enough that a lead
/// reaches its bound many times. Above 16 ranks they become fewer, down to 20: with servers the
/// time that the simulation takes grows with the square of the ranks.
int consistencySteps(std::int64_t ranks);

/// Simulates one consistency ("bsp": the plan's messages) on this cluster. Errors: badUsage where
/// the text is no consistency, badInput where plan or cluster cannot carry it.
Result<ConsistencyPoint> runConsistency(const simulate::SimulatedPlan &plan,
                                        cluster::SpecAttr cluster, const std::string &form,
                                        const SweepOptions &options);

/// Simulates all of them. What plan or cluster cannot carry is refused, with the reason; where that
/// is all, it is an error.
Result<ConsistencySweep> runConsistencies(const simulate::SimulatedPlan &plan,
                                          cluster::SpecAttr cluster,
                                          const std::vector<std::string> &forms,
                                          const SweepOptions &options);

} // namespace syncline::sweep
