// The interface behind which each operation keeps its rule of differentiation.
#ifndef SYNCLINE_PASSES_DIFFERENTIABLE_OP_INTERFACE_TD
#define SYNCLINE_PASSES_DIFFERENTIABLE_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    Implemented by external models, attached by `registerDifferentiationRules`, so that the dialect knows nothing of
    differentiation.
  }];
  let cppNamespace = "::syncline";
  let methods = [InterfaceMethod<[{
      Adds to the gradients of the operands what flows back from the gradients of the results. Called once an operation, in
      reverse program order, when at least one result has a gradient and all of the results' uses have been visited. Operands
      that are not wanted may be skipped. On failure it has emitted an error at the operation.
    }], "::llvm::LogicalResult", "differentiate", (ins "::syncline::Gradients &":$gradients)>];
}

#endif
