// Normalisations, softmax and dropout, forward and backward.
#ifndef SYNCLINE_NN_NORMALIZATION_OPS_TD
#define SYNCLINE_NN_NORMALIZATION_OPS_TD

include "ir/nn/NNDialect.td"

def NN_BatchNormOp : NN_Op<"batch_norm", [MemoryEffects<[MemWrite]>, NN_AxesOpInterface]> {
  let summary = "batch normalisation with the batch's statistics";
  let description = [{
    y = scale·(x - mean)/sqrt(variance + epsilon) + shift for each channel. The batch's mean and
    biased variance are results. The operation changes the two running statistics, which must be
    results of `nn.state` (NN14): r ← (1 - momentum)·r + momentum·batch, with the unbiased variance.
    ONNX's momentum is one minus this momentum. `workspace` holds the mask of a fused relu.

    ```mlir
    %y, %m, %v = nn.batch_norm %x, %scale, %shift, %rm, %rv
      {epsilon = 1.0e-5 : f64, momentum = 1.0e-1 : f64}
      : (tensor<4x8x9x9xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
        -> (tensor<4x8x9x9xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, NN_FloatTensor:$shift,
                       NN_FloatTensor:$running_mean, NN_FloatTensor:$running_variance,
                       F64Attr:$epsilon, F64Attr:$momentum,
                       DefaultValuedAttr<NN_Activation, "Activation::none">:$activation);
  let results = (outs NN_FloatTensor:$y, NN_FloatTensor:$mean, NN_FloatTensor:$variance,
                      Optional<NN_Tensor>:$workspace);
  let assemblyFormat = [{
    $x `,` $scale `,` $shift `,` $running_mean `,` $running_variance attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = "::llvm::SmallVector<int64_t> getComputedAxes() { return {1}; }";
  let hasVerifier = 1;
}

def NN_BatchNormBackwardOp : NN_ComputeOp<"batch_norm_backward"> {
  let summary = "gradients of batch normalisation with respect to x, scale and shift";
  let description = [{
    dy is the gradient of the result after the activation. `workspace` is that of the forward
    operation, and present where an activation was fused (NN14).
    `%dx, %ds, %db = nn.batch_norm_backward %x, %scale, %m, %v, %dy {...} : (...) -> (...)`.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, NN_FloatTensor:$mean,
                       NN_FloatTensor:$variance, NN_FloatTensor:$dy,
                       Optional<NN_Tensor>:$workspace, F64Attr:$epsilon,
                       DefaultValuedAttr<NN_Activation, "Activation::none">:$activation);
  let results = (outs NN_FloatTensor:$dx, NN_FloatTensor:$dscale, NN_FloatTensor:$dshift);
  let assemblyFormat = [{
    $x `,` $scale `,` $mean `,` $variance `,` $dy (`workspace` $workspace^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_LayerNormOp
    : NN_ComputeOp<"layer_norm", [AllTypesMatch<["x", "y"]>,
                                  DeclareOpInterfaceMethods<NN_AxesOpInterface>]> {
  let summary = "normalisation of each sample's last dimensions";
  let description = [{
    y = scale·(x - mean)/sqrt(variance + epsilon) + shift. Mean and biased variance are taken over
    the last dimensions, whose shape is that of scale and shift (NN17).

    ```mlir
    %y = nn.layer_norm %x, %scale shift %shift {epsilon = 1.0e-5 : f64}
         : (tensor<4x5x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x5x8xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, Optional<NN_FloatTensor>:$shift,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $scale (`shift` $shift^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_LayerNormBackwardOp
    : NN_ComputeOp<"layer_norm_backward", [AllTypesMatch<["x", "dy", "dx"]>,
                                           AllTypesMatch<["scale", "dscale", "dshift"]>]> {
  let summary = "gradients of layer normalisation with respect to x, scale and shift";
  let description = [{
    Mean and variance are computed again from x (NN17).
    `%dx, %ds, %db = nn.layer_norm_backward %x, %scale, %dy {...} : (...) -> (...)`.
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$scale, NN_FloatTensor:$dy,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$dx, NN_FloatTensor:$dscale, NN_FloatTensor:$dshift);
  let assemblyFormat = [{
    $x `,` $scale `,` $dy attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

defvar lrnArguments = (ins I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);

def NN_LrnOp : NN_ComputeOp<"lrn", [AllTypesMatch<["x", "y"]>, NN_AxesOpInterface]> {
  let summary = "local response normalisation across channels";
  let description = [{
    y = x / (bias + alpha/size·Σx²)^beta, where the sum is over `size` neighbouring channels, as in
    ONNX LRN: `%y = nn.lrn %x {...} : tensor<...>`.
  }];
  let arguments = !con((ins NN_FloatTensor:$x), lrnArguments);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDeclaration = "::llvm::SmallVector<int64_t> getComputedAxes() { return {1}; }";
}

def NN_LrnBackwardOp : NN_ComputeOp<"lrn_backward", [AllTypesMatch<["x", "dy", "dx"]>]> {
  let summary = "gradient of local response normalisation";
  let description = [{`%dx = nn.lrn_backward %x, %dy {...} : tensor<...>`.}];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$dy), lrnArguments);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$x `,` $dy attr-dict `:` type($x)";
}

def NN_SoftmaxOp
    : NN_ComputeOp<"softmax", [AllTypesMatch<["x", "y"]>, NN_AxesOpInterface]> {
  let summary = "softmax along one axis, or its logarithm";
  let description = [{`%y = nn.softmax %x {axis = 1 : i64, logarithm} : tensor<4x10xf32>` (NN15).}];
  let arguments = (ins NN_FloatTensor:$x, I64Attr:$axis, UnitAttr:$logarithm);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<int64_t> getComputedAxes() { return {int64_t(getAxis())}; }
  }];
  let hasVerifier = 1;
}

def NN_SoftmaxBackwardOp : NN_ComputeOp<"softmax_backward", [AllTypesMatch<["y", "dy", "dx"]>]> {
  let summary = "gradient of softmax from its result";
  let description = [{`%dx = nn.softmax_backward %y, %dy {axis = 1 : i64} : tensor<4x10xf32>`.}];
  let arguments = (ins NN_FloatTensor:$y, NN_FloatTensor:$dy, I64Attr:$axis, UnitAttr:$logarithm);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$y `,` $dy attr-dict `:` type($y)";
  let hasVerifier = 1;
}

def NN_DropoutOp : NN_ComputeOp<"dropout"> {
  let summary = "zeroes elements at random";
  let description = [{
    Keeps an element with probability 1 - ratio and scales it by 1/(1 - ratio) (NN16). Random
    numbers depend only on the run's seed, the rank, the step, the layer and the element. So the
    operation has no effect but its results.

    ```mlir
    %y, %m = nn.dropout %x {ratio = 0.5 : f64}
             : (tensor<4x9xf32>) -> (tensor<4x9xf32>, tensor<4x9xui8>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, F64Attr:$ratio);
  let results = (outs NN_FloatTensor:$y, NN_Tensor:$mask);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_DropoutBackwardOp : NN_ComputeOp<"dropout_backward", [AllTypesMatch<["dy", "dx"]>]> {
  let summary = "gradient of dropout";
  let description = [{
    `%dx = nn.dropout_backward %dy, %m {ratio = 0.5 : f64} : tensor<4x9xf32>, tensor<4x9xui8>`.
  }];
  let arguments = (ins NN_FloatTensor:$dy, NN_Tensor:$mask, F64Attr:$ratio);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $mask attr-dict `:` type($dy) `,` type($mask)";
  let hasVerifier = 1;
}

def NN_NoiseOp : NN_ComputeOp<"noise"> {
  let summary = "random numbers, new ones in each step";
  let description = [{
    `distribution` 0 draws uniform numbers from `first` on up to `second`, 1 normal ones of mean
    `first` and deviation `second`, 2 ones with probability `first` and zeros otherwise (NN19). They
    depend on what dropout's depend on, so that the operation has no effect but its results. In
    evaluation all are `evaluated`. No gradient flows into them.

    ```mlir
    %y = nn.noise {distribution = 2 : i64, first = 0.9 : f64, second = 0.0 : f64,
                   evaluated = 0.9 : f64} : tensor<4x1x1xf32>
    ```
  }];
  let arguments = (ins I64Attr:$distribution, F64Attr:$first, F64Attr:$second, F64Attr:$evaluated);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
  let hasVerifier = 1;
}

#endif
