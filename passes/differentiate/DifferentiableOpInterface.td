// The interface of an operation's rule of differentiation.
#ifndef SYNCLINE_PASSES_DIFFERENTIABLE_OP_INTERFACE_TD
#define SYNCLINE_PASSES_DIFFERENTIABLE_OP_INTERFACE_TD

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let description = [{
    External models implement this interface and `registerDifferentiationRules` attaches them, so
    the dialect does not depend on differentiation.
  }];
  let cppNamespace = "::syncline::differentiate";
  let methods = [InterfaceMethod<[{
      Adds to the gradients of the operands what flows back from the gradients of the results. The
      pass calls it once per operation, in reverse program order, when at least one result has a
      gradient and all of the results' uses have been visited. A rule may skip operands that are
      not wanted. A rule that fails emits an error at the operation.
    }], "::llvm::LogicalResult", "differentiate",
      (ins "::syncline::differentiate::Gradients &":$gradients)>];
}

#endif
