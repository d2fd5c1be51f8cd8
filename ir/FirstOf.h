// The operations of which a planned module has at most one: problem, solution, prediction, program.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace syncline {

/// The first operation of this kind directly in the module; null where there is none.
template <typename Op> Op firstOf(mlir::ModuleOp module) {
  auto found = module.getOps<Op>();
  return found.empty() ? Op() : *found.begin();
}

} // namespace syncline
