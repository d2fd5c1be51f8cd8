// The discardable attribute `of` of plan.tensor.
#pragma once

#include "ir/plan/Plan.h"

namespace syncline::plan {

/// On plan.tensor of space input, a string: the model's input whose integers it holds as f32.
inline constexpr llvm::StringLiteral ofAttr = "of";

/// The model's input whose values the tensor holds.
inline llvm::StringRef sourceOf(TensorOp tensor) {
  auto of = tensor->getAttrOfType<mlir::StringAttr>(ofAttr);
  return of ? of.getValue() : tensor.getName();
}

} // namespace syncline::plan
