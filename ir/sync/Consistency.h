// Local updates: reading their forms, and the cluster over which gradients travel.
#pragma once

#include "ir/sync/Sync.h"
#include "syncline/Status.h"

#include <string>

namespace syncline::sync {

/// Why these numbers are no consistency, citing S19; empty for none.
std::string whyNot(ConsistencyForm form, std::int64_t period, std::int64_t fragments,
                   std::int64_t delay, double mix, double rate, double momentum);

/// Reads "bsp" (null), "local:H" or "diloco:H,Q,TAU,ALPHA[,RATE,MOMENTUM]". The last two are 0.7
/// and 0.9 where they are left out. Errors: badInput, saying what was expected.
Result<ConsistencyAttr> parseConsistency(llvm::StringRef text, mlir::MLIRContext *context);

/// The text that parseConsistency reads; "bsp" for null.
std::string consistencyText(ConsistencyAttr consistency);

/// The cluster over which the module's gradients travel: its `cluster.spec`, or ofOneRank() of it
/// where a problem of the module has a consistency. Null without a spec.
cluster::SpecAttr gradientCluster(mlir::ModuleOp module);

/// A cluster of one rank, which is the spec's slowest.
cluster::SpecAttr ofOneRank(cluster::SpecAttr spec);

} // namespace syncline::sync
