// The discardable attribute `nn.optimizer` of a module. The driver sets it; passes and codegen read
// it, because memory and the time of updates depend on the optimizer.
#pragma once

#include "syncline/OptimizerKind.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::nn {

/// A string: the optimizerName() of the step's optimizer, which is "sgd" where it is absent (NN51).
inline constexpr llvm::StringLiteral optimizerAttr = "nn.optimizer";

/// The optimizer of the module that is `op` or around it.
inline OptimizerKind optimizerOf(mlir::Operation *op) {
  auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<mlir::ModuleOp>();
  auto name = module ? module->getAttrOfType<mlir::StringAttr>(optimizerAttr) : mlir::StringAttr();
  return (name ? parseOptimizer(name.getValue()) : std::nullopt).value_or(OptimizerKind::sgd);
}

} // namespace syncline::nn
