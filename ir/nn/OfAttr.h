// The discardable attribute `nn.of` of nn.input.
#pragma once

#include "ir/nn/NN.h"

namespace syncline::nn {

/// A string: the model's input whose integers the input holds in floating point (NN50), so that
/// operations can compute with them.
inline constexpr llvm::StringLiteral ofAttr = "nn.of";

/// The model's input whose values the input holds.
inline llvm::StringRef sourceOf(InputOp input) {
  auto of = input->getAttrOfType<mlir::StringAttr>(ofAttr);
  return of ? of.getValue() : input.getName();
}

} // namespace syncline::nn
