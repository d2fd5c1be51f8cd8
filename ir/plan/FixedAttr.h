// The discardable attribute `fixed` of plan.tensor.
#pragma once

#include "ir/plan/Plan.h"

namespace syncline::plan {

/// On plan.tensor of space state, a unit: a constant that has its values in the file (P27f).
inline constexpr llvm::StringLiteral fixedAttr = "fixed";

/// Whether the tensor is the plan's own: its values are neither the model's nor changed.
inline bool isConstant(TensorOp tensor) {
  return tensor->hasAttr(fixedAttr) ||
         llvm::isa_and_nonnull<mlir::ElementsAttr>(tensor.getInitAttr());
}

} // namespace syncline::plan
