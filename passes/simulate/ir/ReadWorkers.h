// Reads a plan as workers that need not wait for each other.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/simulate/consistency/WorkerScenario.h"
#include "passes/simulate/ir/ReadScenario.h"

namespace syncline::simulate {

/// The numbers of a #sync.consistency that decide when workers wait.
Consistency consistencyOf(sync::ConsistencyAttr consistency);

/// Workers that compute what the plan's ranks do and exchange their weights on this cluster by this
/// consistency, whatever the plan's own is. Weights without servers travel in fragments of equal
/// size, by the tree where the form is EASGD's, else by the fastest all-reduce; a plan of the same
/// consistency says itself how. Returns badInput where the cluster cannot carry the form.
Result<WorkerScenario> readWorkers(const SimulatedPlan &plan, cluster::SpecAttr cluster,
                                   sync::ConsistencyAttr consistency);

} // namespace syncline::simulate
