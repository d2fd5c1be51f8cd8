// Pooling, forward and backward.
#ifndef SYNCLINE_NN_POOL_OPS_TD
#define SYNCLINE_NN_POOL_OPS_TD

include "ir/nn/NNDialect.td"

defvar poolArguments = (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                            DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$pads_begin,
                            DenseI64ArrayAttr:$pads_end);

def NN_MaxPoolOp
    : NN_ComputeOp<"max_pool",
                   [DeclareOpInterfaceMethods<NN_AxesOpInterface, ["getFeatureAxis"]>]> {
  let summary = "maximum over windows";
  let description = [{
    `workspace` says where each maximum came from. Ceiling mode is expressed by larger `pads_end`
    (NN13).

    ```mlir
    %y, %ws = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
                dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>,
                pads_end = array<i64: 0, 0>}
              : (tensor<4x8x8x8xf32>) -> (tensor<4x8x4x4xf32>, tensor<4x8x4x4xui8>)
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$x), poolArguments);
  let results = (outs NN_FloatTensor:$y, NN_Tensor:$workspace);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_MaxPoolBackwardOp : NN_ComputeOp<"max_pool_backward"> {
  let summary = "gradient of max pooling";
  let description = [{
    `%dx = nn.max_pool_backward %dy, %ws {...} : (tensor<...>, tensor<...>) -> tensor<...>` (NN13).
  }];
  let arguments = !con((ins NN_FloatTensor:$dy, NN_Tensor:$workspace), poolArguments);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $workspace attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_AveragePoolOp
    : NN_ComputeOp<"average_pool",
                   [DeclareOpInterfaceMethods<NN_AxesOpInterface, ["getFeatureAxis"]>]> {
  let summary = "mean over windows";
  let description = [{
    With `count_include_pad` the mean counts padding as zeroes; without it counts no padding (NN13).
    `%y = nn.average_pool %x {...} : (tensor<...>) -> tensor<...>`
  }];
  let arguments = !con((ins NN_FloatTensor:$x), poolArguments, (ins UnitAttr:$count_include_pad));
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_AveragePoolBackwardOp : NN_ComputeOp<"average_pool_backward"> {
  let summary = "gradient of average pooling";
  let description = [{`%dx = nn.average_pool_backward %dy {...} : (tensor<...>) -> tensor<...>`.}];
  let arguments = !con((ins NN_FloatTensor:$dy), poolArguments, (ins UnitAttr:$count_include_pad));
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
