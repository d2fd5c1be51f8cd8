// Types of a node's results by the rules of the ONNX library, for operators that have no importer.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

/// One type a result of the node, null for results that nothing reads. All operands have fixed
/// shapes here, and values where they are known at import, so the rules give fixed shapes, too.
/// Where the operator has no rule (a foreign domain, one newer than the library) the file may state
/// them. badInput where it does not, where its operands do not fit the rule, and where a shape
/// depends on values that training computes; the message does not name the node.
Result<llvm::SmallVector<mlir::RankedTensorType>> inferTypes(NodeImport &node);

/// Defines the node's results as tensors of these types that no operation of nn computes: what is
/// imported behind them is right in its shapes alone. The module is not to be trained.
mlir::LogicalResult importByShape(NodeImport &node);

} // namespace syncline::frontend
