// Elementwise operations. They have a kind while the model is built and differentiated, and scalar
// bodies after fusion.
#ifndef SYNCLINE_NN_POINTWISE_OPS_TD
#define SYNCLINE_NN_POINTWISE_OPS_TD

include "ir/nn/NNDialect.td"

def NN_UnaryOp : NN_ComputeOp<"unary", [AllTypesMatch<["x", "y"]>]> {
  let summary = "y = f(x), element by element";
  let description = [{
    The kind is the function, a row of UnaryKinds.inc, which says what uses alpha and beta.
    `%y = nn.unary relu %x : tensor<4x10xf32>`
  }];
  let arguments = (ins NN_UnaryKind:$kind, NN_Tensor:$x, DefaultValuedAttr<F64Attr, "0.0">:$alpha,
                       DefaultValuedAttr<F64Attr, "0.0">:$beta);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}

def NN_UnaryBackwardOp
    : NN_ComputeOp<"unary_backward", [AllTypesMatch<["reference", "dy", "dx"]>]> {
  let summary = "dx = f'·dy, element by element";
  let description = [{
    `reference` is the result or the operand of the forward operation, as UnaryKinds.inc says
    (NN21). The derivative is zero at the kinks of relu and clip, as in PyTorch's relu and hardtanh.
    elu and leaky_relu take the sign from the result, so their alpha must not be negative.
    `%dx = nn.unary_backward relu %y, %dy : tensor<4x10xf32>`
  }];
  let arguments = (ins NN_UnaryKind:$kind, NN_Tensor:$reference, NN_Tensor:$dy,
                       DefaultValuedAttr<F64Attr, "0.0">:$alpha,
                       DefaultValuedAttr<F64Attr, "0.0">:$beta);
  let results = (outs NN_Tensor:$dx);
  let assemblyFormat = "$kind $reference `,` $dy attr-dict `:` type($dy)";
}

def NN_BinaryOp : NN_ComputeOp<"binary"> {
  let summary = "elementwise function of two operands that broadcast as in numpy";
  let description = [{
    The kinds are add, sub, mul, div, prelu, which is a where a > 0 and a·b otherwise, mask, which
    is 0 where b is 0 and a otherwise, max and min, which are NaN where an operand is (NN20).
    Derivatives of max and min need tie_share, which is 0 where a < b, 1/2 where a = b and 1
    otherwise, and not_less, which is 1 where a >= b and 0 otherwise.
    `%y = nn.binary add %a, %b : (tensor<4x8x9x9xf32>, tensor<8x1x1xf32>) -> tensor<4x8x9x9xf32>`
  }];
  let arguments = (ins NN_BinaryKind:$kind, NN_Tensor:$a, NN_Tensor:$b);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_PReluBackwardOp : NN_ComputeOp<"prelu_backward", [AllTypesMatch<["a", "dy", "da", "db"]>]> {
  let summary = "both elementwise gradients of prelu, before the slope's is reduced";
  let description = [{
    da is dy where a > 0, and b·dy otherwise. db is 0 where a > 0, and a·dy otherwise. b broadcasts
    to the shape of a (NN20).
    `%da, %db = nn.prelu_backward %a, %b, %dy : tensor<4x8xf32>, tensor<8xf32>`
  }];
  let arguments = (ins NN_Tensor:$a, NN_Tensor:$b, NN_Tensor:$dy);
  let results = (outs NN_Tensor:$da, NN_Tensor:$db);
  let assemblyFormat = "$a `,` $b `,` $dy attr-dict `:` type($a) `,` type($b)";
  let hasVerifier = 1;
}

def NN_BroadcastOp : NN_ComputeOp<"broadcast"> {
  let summary = "repeats a tensor along dimensions of size one or absent, as in numpy";
  let description = [{`%y = nn.broadcast %x : (tensor<8x1x1xf32>) -> tensor<4x8x9x9xf32>` (NN20).}];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_PointwiseOp
    : NN_ComputeOp<"pointwise", [IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a fused chain of elementwise operations";
  let description = [{
    Fusion makes this operation. The body computes one element of each result from one element of
    each operand. Operands broadcast to the common shape of the results (NN22). The body uses its
    arguments and its own constants, and nothing else.

    ```mlir
    %y = nn.pointwise %a, %b : (tensor<4x9xf32>, tensor<4x9xf32>) -> tensor<4x9xf32> {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      nn.yield %s : f32
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs);
  let results = (outs Variadic<NN_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["PointwiseOp"]>]> {
  let summary = "ends a pointwise body";
  let description = [{`nn.yield %s : f32`, one value a result.}];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif
