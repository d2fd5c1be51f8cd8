// The discardable attribute `cluster.wire` of a module. The driver sets it; passes and codegen read
// it, because time and bytes of messages depend on the type in which gradients travel.
#pragma once

#include "syncline/WirePrecision.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::cluster {

/// A string (C7): the wireName() of the gradients' type in messages, "fp32" where it is absent.
inline constexpr llvm::StringLiteral wireAttr = "cluster.wire";

/// The wire of the module that is `op` or around it.
inline WirePrecision wireOf(mlir::Operation *op) {
  auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<mlir::ModuleOp>();
  auto name = module ? module->getAttrOfType<mlir::StringAttr>(wireAttr) : mlir::StringAttr();
  return (name ? parseWire(name.getValue()) : std::nullopt).value_or(WirePrecision::fp32);
}

} // namespace syncline::cluster
