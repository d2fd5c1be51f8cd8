// A sweep's points, one simulation each.
#pragma once

#include "frontend/sweep/Sweep.h"
#include "frontend/sweep/SweepOptions.h"
#include "passes/simulate/ir/ReadScenario.h"

namespace syncline::sweep {

/// Poses the plan's problem at every value of the axis on `cluster`, plans it anew with the plan's
/// planner (for buckets: ddp:SIZE) or keeps its decisions, and simulates the result. One rank is
/// one device by itself; fewer ranks than a node's devices are one node with so many. A value is
/// left out, with the reason, where the tensors need more memory than the cluster's devices have,
/// or where planning or simulation fails. Errors: badInput where every value is left out, or where
/// the cluster's costs are measured and would have to change.
Result<Sweep> runSweep(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       const SweepAxis &axis, const SweepOptions &options);

/// A sweep over `axis` for each value of `across`; errors as runSweep's. Precondition: the two axes
/// can be combined (checkCombination).
Result<SweepGrid> runGrid(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                          const SweepAxis &axis, const SweepAxis &across,
                          const SweepOptions &options);

/// badInput where `needed` bytes exceed the memory that the cluster file states for a device, as
/// in `compile`.
Status expectMemory(std::optional<std::int64_t> needed, cluster::SpecAttr cluster);

} // namespace syncline::sweep
