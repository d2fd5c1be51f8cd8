// The C++ interface of the nn dialect: include this to use its operations.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/nn/NNDialect.h.inc"
#include "ir/nn/NNEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/nn/NNAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/nn/NNOps.h.inc"

namespace syncline::nn {

/// Discardable attributes of the dialect, which NNDialect.td describes.
inline constexpr llvm::StringLiteral layerAttr = "nn.layer";
inline constexpr llvm::StringLiteral backwardAttr = "nn.backward";
inline constexpr llvm::StringLiteral secondsAttr = "nn.seconds";

/// The layer that an operation comes from; empty where it has no such attribute.
inline llvm::StringRef layerOf(mlir::Operation *op) {
  auto name = op->getAttrOfType<mlir::StringAttr>(layerAttr);
  return name ? name.getValue() : llvm::StringRef();
}

} // namespace syncline::nn
