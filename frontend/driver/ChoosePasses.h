// What is gathered in each pass of a step of several batches.
#pragma once

#include "frontend/driver/PlanWith.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace syncline::driver {

/// Replaces the module by its plan in this way.
using PlanOneWay = std::function<Status(const PlanWay &way, mlir::OwningOpRef<mlir::ModuleOp> &)>;

/// Replaces the module by its plan for steps of `passes` batches. Gradients that are summed over
/// the ranks are summed on each rank first, and travel in the last pass. Factors and rows travel in
/// each pass, because a product of sums is not the sum of products. So where a plan by 'optimal'
/// has any, this also plans by 'passes:N', as if they took as many times as long, layer by layer,
/// and by 'sums', without any. It keeps the plan with the shortest predicted step of those that are
/// not refused. Where that is not the first one, the prediction's `gathering` has the step of the
/// first one (P22). Orders are planned by 'optimal' and 'sums' only. Other planners follow systems
/// and are left as they are.
///
/// Sums are never scattered over the ranks in each pass: a reduce-scatter a pass moves as many
/// times the bytes, and the last one is the same message as that of a step which sends once, so no
/// step ends sooner. It would only save 1 - 1/ranks of the sums' memory.
Status choosePasses(std::int64_t passes, const PlanWay &way,
                    mlir::OwningOpRef<mlir::ModuleOp> &module, const PlanOneWay &plan);

} // namespace syncline::driver
