// Resizing of dimensions, forward and backward.
#ifndef SYNCLINE_NN_RESAMPLE_OPS_TD
#define SYNCLINE_NN_RESAMPLE_OPS_TD

include "ir/nn/NNDialect.td"

defvar resampleArguments = (ins DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$coordinates,
                                I64Attr:$filter, F64Attr:$cubic_coefficient,
                                UnitAttr:$exclude_outside, UnitAttr:$antialias);

def NN_ResampleOp : NN_ComputeOp<"resample", [NN_AxesOpInterface]> {
  let summary = "resizes dimensions; each element is a weighted sum of its neighbours";
  let description = [{
    Along each of `axes`, which ascend, element i of y lies at (a·i + b)/c of x, where (a, b, c) are
    the axis's three numbers in `coordinates` (NN18). `filter` is a ResampleFilter of
    syncline/ResampleFilter.h, which says which elements of x are summed with which weights. x is
    continued by its border, unless `exclude_outside` is set, which leaves out elements outside x
    and scales the other weights to a sum of 1. `antialias` stretches the filter where y is smaller
    than x.

    ```mlir
    %y = nn.resample %x {axes = array<i64: 2>, coordinates = array<i64: 1, 0, 2>, filter = 2 : i64,
                         cubic_coefficient = 0.0 : f64}
         : (tensor<4x8x9xf32>) -> tensor<4x8x18xf32>
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$x), resampleArguments);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getComputedAxes() {
      return ::llvm::SmallVector<int64_t>(getAxes());
    }
    std::optional<int64_t> getFeatureAxis() { return std::nullopt; }
  }];
  let hasVerifier = 1;
}

def NN_ResampleBackwardOp : NN_ComputeOp<"resample_backward"> {
  let summary = "gradient of a resample";
  let description = [{
    The attributes are those of the `resample`, of which dy is the result's gradient (NN18).
    `%dx = nn.resample_backward %dy {...} : (tensor<4x8x18xf32>) -> tensor<4x8x9xf32>`.
  }];
  let arguments = !con((ins NN_FloatTensor:$dy), resampleArguments);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
