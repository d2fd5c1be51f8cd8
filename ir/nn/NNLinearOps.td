// Convolution and matrix product, forward and backward.
#ifndef SYNCLINE_NN_LINEAR_OPS_TD
#define SYNCLINE_NN_LINEAR_OPS_TD

include "ir/nn/NNDialect.td"

// One entry per spatial dimension.
defvar windowArguments = (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations,
                              DenseI64ArrayAttr:$pads_begin, DenseI64ArrayAttr:$pads_end,
                              DefaultValuedAttr<I64Attr, "1">:$groups);

def NN_ConvOp
    : NN_ComputeOp<"conv", [DeclareOpInterfaceMethods<NN_AxesOpInterface, ["getFeatureAxis"]>]> {
  let summary = "cross-correlation over any number of spatial dimensions";
  let description = [{
    x is [N, C, ...], w is [M, C/groups, ...] and bias is [M]. Shapes follow NN10, as in ONNX Conv.

    ```mlir
    %y = nn.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
           pads_begin = array<i64: 3, 3>, pads_end = array<i64: 3, 3>}
         : (tensor<4x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<4x64x112x112xf32>
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$w, Optional<NN_FloatTensor>:$bias),
                       windowArguments,
                       (ins DefaultValuedAttr<NN_Activation, "Activation::none">:$activation));
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $x `,` $w (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_ConvBackwardDataOp
    : NN_ComputeOp<"conv_backward_data",
                   [DeclareOpInterfaceMethods<NN_AxesOpInterface, ["getFeatureAxis"]>]> {
  let summary = "gradient of a convolution with respect to x";
  let description = [{
    Shapes follow NN11. In a forward pass this is a transposed convolution of dy, as ONNX
    ConvTranspose without its bias.

    ```mlir
    %dx = nn.conv_backward_data %dy, %w {...} : (tensor<...>, tensor<...>) -> tensor<...>
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$dy, NN_FloatTensor:$w), windowArguments);
  let results = (outs NN_FloatTensor:$dx);
  let assemblyFormat = "$dy `,` $w attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_ConvBackwardWeightsOp : NN_ComputeOp<"conv_backward_weights"> {
  let summary = "gradients of a convolution with respect to w and, when there is one, bias";
  let description = [{
    Shapes follow NN11.

    ```mlir
    %dw, %db = nn.conv_backward_weights %x, %dy {...} : (...) -> (tensor<...>, tensor<...>)
    ```
  }];
  let arguments = !con((ins NN_FloatTensor:$x, NN_FloatTensor:$dy), windowArguments);
  let results = (outs NN_FloatTensor:$dw, Optional<NN_FloatTensor>:$dbias);
  let assemblyFormat = "$x `,` $dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_MatmulOp : NN_ComputeOp<"matmul"> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    y = op(a)·op(b) + bias. op transposes the last two dimensions where `transpose_a` or
    `transpose_b` is present. Leading dimensions and the bias broadcast as in numpy (NN12). The
    weight gradient of y = x·wᵀ is `nn.matmul %dy, %x {transpose_a}`.

    ```mlir
    %y = nn.matmul %x, %w bias %b {transpose_b}
         : (tensor<16x512xf32>, tensor<10x512xf32>, tensor<10xf32>) -> tensor<16x10xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$a, NN_FloatTensor:$b, Optional<NN_FloatTensor>:$bias,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_b,
                       DefaultValuedAttr<NN_Activation, "Activation::none">:$activation);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = [{
    $a `,` $b (`bias` $bias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
