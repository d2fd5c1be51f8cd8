// What operations say of their dimensions.
#ifndef SYNCLINE_NN_INTERFACES_TD
#define SYNCLINE_NN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def NN_AxesOpInterface : OpInterface<"AxesOpInterface"> {
  let description = [{
    An operation that computes over whole dimensions of its first operand. Its first result has the
    same dimensions in the same order; its other operands are weights, which all samples share.
    Import follows the batch and the features of a model through it.
  }];
  let cppNamespace = "::syncline::nn";
  let methods = [
    InterfaceMethod<"The dimensions over which it computes, none of which may have the batch.",
                    "::llvm::SmallVector<int64_t>", "getComputedAxes">,
    InterfaceMethod<"The result's dimension that holds features; nothing where the operand's does.",
                    "std::optional<int64_t>", "getFeatureAxis", (ins), [{}], [{
      const auto axes = $_op.getComputedAxes();
      return axes.size() == 1 ? std::optional<int64_t>(axes.front()) : std::nullopt;
    }]>,
  ];
}

#endif
