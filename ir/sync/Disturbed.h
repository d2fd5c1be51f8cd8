// How long disturbed steps take by a plan, and by those that it was compared with: the discardable
// attribute `sync.disturbed` of a prediction (S21).
#pragma once

#include "ir/sync/Sync.h"

#include <string>
#include <vector>

namespace syncline::sync {

inline constexpr llvm::StringLiteral disturbedAttr = "sync.disturbed";

/// What the drawn steps took by one plan, in seconds (passes/simulate/Disturbance.h).
struct DisturbedPlan {
  std::string planner;
  bool crosses = false; ///< whether its messages reach into the next step
  double mean = 0, low = 0, high = 0;
};

/// The plan itself, and then the others; empty where none were compared.
std::vector<DisturbedPlan> disturbedOf(PredictionOp prediction);

/// Precondition: there is a plan.
void setDisturbed(PredictionOp prediction, llvm::ArrayRef<DisturbedPlan> plans);

/// S21, for an attribute of the dialect.
mlir::LogicalResult verifyDisturbed(mlir::Operation *op, mlir::Attribute attribute);

} // namespace syncline::sync
