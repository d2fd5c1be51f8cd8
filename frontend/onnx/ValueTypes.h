// Shapes and element types of the step's tensors.
#pragma once

#include "ir/nn/NN.h"
#include "ir/nn/Shapes.h"

namespace syncline::frontend {

inline nn::DimsRef shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

inline std::int64_t rankOf(mlir::Value value) {
  return static_cast<std::int64_t>(shapeOf(value).size());
}

inline mlir::Type elementOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

} // namespace syncline::frontend
