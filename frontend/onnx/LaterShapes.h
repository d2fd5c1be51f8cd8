// Shapes of operators that the ONNX library of Debian 12 (opset 17) has no rule for.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// The type of each result of the node, null for a result whose shape depends on values that
/// training computes. Nothing where this table has no rule for the operator. Fails with the node's
/// error where its operands or attributes do not fit.
std::optional<mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>>>
laterTypes(NodeImport &node);

} // namespace syncline::frontend
