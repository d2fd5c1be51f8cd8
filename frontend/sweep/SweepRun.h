// A sweep's points, one simulation each.
#pragma once

#include "frontend/sweep/Sweep.h"
#include "frontend/sweep/SweepOptions.h"
#include "passes/simulate/ir/ReadScenario.h"

namespace syncline::sweep {

/// Poses the plan's problem at every value of the axis on `cluster`, plans it anew with the plan's
/// planner (of buckets: with ddp:SIZE) or keeps its decisions, and simulates the result. One rank
/// is one device by itself; ranks that are fewer than a node's devices are one node with so many.
/// A value is left out,
/// with the reason, where the tensors need more memory than the cluster's devices have, or nothing
/// can be planned or simulated. badInput where that is so of every value, or the cluster's costs
/// are measured and would have to change.
Result<Sweep> runSweep(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       const SweepAxis &axis, const SweepOptions &options);

/// What `compile` refuses as well: more bytes than the cluster's devices are said to hold.
Status expectMemory(std::optional<std::int64_t> needed, cluster::SpecAttr cluster);

} // namespace syncline::sweep
