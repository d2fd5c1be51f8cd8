// The choice among orders of messages, and of a step that ends with all of them, by
// disturbed steps.
#pragma once

#include "ir/sync/Disturbed.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>
#include <vector>

namespace syncline::solver {
class Planner;
}

namespace syncline::candidates {

struct OrderChoice {
  std::shared_ptr<const solver::Planner> planner; ///< of the order with the least mean
  sync::DisturbedPlan order;                      ///< that order
  sync::DisturbedPlan barrier;                    ///< the plan whose steps wait for all messages
  std::vector<sync::DisturbedPlan> others;        ///< all other orders
};

/// Tries the plan's own order, and those of planners that take messages to be 0, 5, 10 and 20 %
/// longer, and where these have halves without them. All, and the barrier, meet the same drawn
/// steps (simulate/Disturbance.h). Takes the order with the least mean, of equal ones the
/// first; equal orders count once. Nothing where the plan has no order or predictDisturbed()
/// has no answer. Errors: those of planners and of the simulation. Precondition: `plan` is by
/// planner 'optimal'.
Result<std::optional<OrderChoice>> chooseOrder(mlir::ModuleOp plan);

/// The disturbed steps of the plan itself; nothing as above.
Result<std::optional<sync::DisturbedPlan>> disturbedPlan(mlir::ModuleOp plan);

} // namespace syncline::candidates
