// The discardable attribute `nn.precision` of a module. The driver sets it and codegen writes it
// into the plan, because measured times hold for one precision and runs take the plan's.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace syncline::nn {

/// A string, "tf32" or "bf16": the type in which products and convolutions are computed. It is
/// "fp32" where the attribute is absent (NN53).
inline constexpr llvm::StringLiteral precisionAttr = "nn.precision";

/// Every precision by its name; the first is that of a module without the attribute.
inline constexpr llvm::StringLiteral precisions[] = {"fp32", "tf32", "bf16"};

/// The precision of the module.
inline llvm::StringRef precisionOf(mlir::ModuleOp module) {
  auto name = module->getAttrOfType<mlir::StringAttr>(precisionAttr);
  return name ? name.getValue() : llvm::StringRef(precisions[0]);
}

/// Whether a step of the module keeps convolutions' results as bf16.
inline bool storesBfloat16(mlir::ModuleOp module) { return precisionOf(module) == "bf16"; }

} // namespace syncline::nn
