// What `compile` says where a plan does not fit the devices' memory.
#pragma once

#include "passes/candidates/ChoosePlan.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace syncline::driver {

/// The most samples of a rank with which the plan's messages and operations fit the devices, found
/// by placing its tensors anew for other batches; 0 where none does. Preconditions: the module has
/// a program, and its cluster states the devices' memory.
std::int64_t largestBatch(mlir::ModuleOp plan);

/// Ok where the devices can hold the plan, or where the cluster file `path` does not state their
/// memory. Else badInput: what is needed, what there is, the largest batch, and how much less a
/// sharded update needs.
Status expectMemory(const std::string &path, const candidates::Candidate &candidate,
                    mlir::ModuleOp plan);

/// "; '--recompute auto' needs 12.3 GiB", for a candidate without recomputation whose plan of
/// `source` expectMemory() refuses: plans it so. Empty where it cannot be planned.
std::string recomputedText(const candidates::Candidate &candidate, mlir::ModuleOp source,
                           const EnterPhase &enter);

} // namespace syncline::driver
