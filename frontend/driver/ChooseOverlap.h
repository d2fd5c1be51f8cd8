// What a plan's messages hide behind, where the user leaves it open.
#pragma once

#include "passes/solver/Planner.h"
#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <memory>
#include <string>

namespace syncline::driver {

/// The share of a step that another overlap than `backward` has to save by the prediction. A plan
/// that waits for its own messages is simpler to read, to explain and to prove optimal, and
/// predictions are seldom true to less than 1 %.
inline constexpr double leastGain = 0.01;

using PlannerRef = std::shared_ptr<const solver::Planner>;

/// The overlap that `compile` plans with: `wanted`, or for "auto" the only one that makes sense for
/// the planner: "step" for a rule of orders; "backward" for Z3 and for rules of systems whose steps
/// wait for their own messages. "auto" where both do, which is for the planner 'optimal'.
std::string overlapFor(const solver::Planner &planner, const std::string &wanted);

/// A module that is planned, and a line for people on why with this overlap.
struct ChosenPlan {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string reason;
};

/// Plans a copy of the user's module, with "backward" or "step", and checks that it fits.
using PlanCopy = std::function<Result<mlir::OwningOpRef<mlir::ModuleOp>>(
    const PlannerRef &planner, const std::string &overlap)>;

/// The plan with the overlap that has the shortest predicted step: `backward`, unless `step`, or
/// one message behind the backward pass, saves leastGain of it. The others are not tried where
/// nothing can save so much. Without `mayCarry`, as updates that wait for the norm of all gradients
/// want it, `step` is not tried. Plans that are refused, for memory or otherwise, are left out;
/// where all are, the first one's refusal. Precondition: overlapFor(planner, "auto") is "auto".
Result<ChosenPlan> chooseOverlap(const PlannerRef &planner, bool mayCarry, const PlanCopy &plan);

} // namespace syncline::driver
