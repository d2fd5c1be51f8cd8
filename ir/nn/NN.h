// The C++ interface of the nn dialect: include this to use its operations.
#pragma once

#include "ir/KnownAttributes.h"
#include "syncline/OptimizerKind.h"

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
#include "ir/nn/NNInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/nn/NNAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/nn/NNOps.h.inc"

namespace syncline::nn {

/// Discardable attributes of the dialect, which NNDialect.td describes.
inline constexpr auto layerAttr = NNDialect::LayerAttrHelper::getNameStr();
inline constexpr auto backwardAttr = NNDialect::BackwardAttrHelper::getNameStr();
inline constexpr auto recomputedAttr = NNDialect::RecomputedAttrHelper::getNameStr();
inline constexpr auto secondsAttr = NNDialect::SecondsAttrHelper::getNameStr();
inline constexpr auto optimizerAttr = NNDialect::OptimizerAttrHelper::getNameStr();
inline constexpr auto precisionAttr = NNDialect::PrecisionAttrHelper::getNameStr();
inline constexpr auto recomputationAttr = NNDialect::RecomputationAttrHelper::getNameStr();

/// The layer that an operation comes from; empty where it has no such attribute.
inline llvm::StringRef layerOf(mlir::Operation *op) {
  auto name = op->getAttrOfType<mlir::StringAttr>(layerAttr);
  return name ? name.getValue() : llvm::StringRef();
}

inline bool isRecomputed(mlir::Operation *op) { return op->hasAttr(recomputedAttr); }

/// The parts of `nn.recomputation`; null where it lacks them.
inline mlir::ArrayAttr blocksOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::ArrayAttr>("blocks");
}
inline mlir::IntegerAttr freedOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::IntegerAttr>("freed");
}
inline mlir::IntegerAttr askedOf(mlir::DictionaryAttr recomputation) {
  return recomputation.getAs<mlir::IntegerAttr>("asked");
}

/// The optimizer of the module that is `op` or around it: SGD unless stated.
OptimizerKind optimizerOf(mlir::Operation *op);

/// Every precision by its name; the first is that of a module without the attribute. No backend
/// computes in the last: it is for planning.
inline constexpr llvm::StringLiteral precisions[] = {"fp32", "tf32", "bf16", "fp16"};

/// The type in which the module's products and convolutions are computed.
llvm::StringRef precisionOf(mlir::ModuleOp module);

/// Whether a step of the module keeps convolutions' results as bf16.
inline bool storesBfloat16(mlir::ModuleOp module) { return precisionOf(module) == "bf16"; }

} // namespace syncline::nn
