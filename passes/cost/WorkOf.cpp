// Classes of operations.
#include "passes/cost/WorkOf.h"

#include "ir/plan/Plan.h"

#include "llvm/ADT/StringExtras.h"

namespace syncline::cost {

problem::WorkClass workOf(mlir::Operation *op) {
  if (auto call = mlir::dyn_cast<plan::CallOp>(op))
    return problem::workOfKernel(plan::stringifyKernel(call.getCallee()));
  // A step's operation has its kernel's name in snake case (syncline/Kernels.inc).
  return problem::workOfKernel(llvm::convertToCamelFromSnakeCase(op->getName().stripDialect()));
}

} // namespace syncline::cost
