// A sweep's points, one simulation each.
#pragma once

#include "frontend/driver/Simulate.h"
#include "frontend/driver/SweepReport.h"
#include "passes/simulate/ReadScenario.h"

namespace syncline::driver {

/// Poses the plan's problem at every value of the axis on `cluster`, plans it anew with the plan's
/// planner or keeps its decisions, and simulates the result. Uses jitter, seed, slow ranks, steps,
/// points and replan of the options. badInput where the cluster's costs are measured and would have
/// to change, or the problem has no plan there.
Result<Sweep> runSweep(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       const SweepAxis &axis, const SimulateOptions &options);

} // namespace syncline::driver
