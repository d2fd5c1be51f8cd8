// Recurrent layers, forward and backward.
#ifndef SYNCLINE_NN_RECURRENT_OPS_TD
#define SYNCLINE_NN_RECURRENT_OPS_TD

include "ir/nn/NNDialect.td"

def NN_RecurrentOp : NN_ComputeOp<"recurrent", [AllTypesMatch<["initial", "last"]>]> {
  let summary = "a recurrent layer over all time steps, in one or two directions";
  let description = [{
    `cell` is a RecurrentCell of syncline/RecurrentCell.h. x has the products of the layer's inputs
    with their weights, r those of the states, bias the biases of both products, all in ONNX's order
    of gates. Direction 0 goes backward in time with `reverse`, direction 1 always does. The states
    are the outputs, and behind them an LSTM's cell states. A sample takes no part in the steps from
    its length on: y is zero there, and its states stay. `saved` is for the backward pass (NN23).

    ```mlir
    %y, %last, %saved = nn.recurrent %x, %r, %b, %s {cell = 0 : i64}
      : (tensor<7x4x32xf32>, tensor<1x32x8xf32>, tensor<1x64xf32>, tensor<2x1x4x8xf32>)
        -> (tensor<7x4x8xf32>, tensor<2x1x4x8xf32>, tensor<1x7x4x48xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_FloatTensor:$r, NN_FloatTensor:$bias,
                       NN_FloatTensor:$initial, Optional<NN_Tensor>:$lengths, I64Attr:$cell,
                       UnitAttr:$reverse);
  let results = (outs NN_FloatTensor:$y, NN_FloatTensor:$last, NN_FloatTensor:$saved);
  let assemblyFormat = [{
    $x `,` $r `,` $bias `,` $initial (`lengths` $lengths^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_RecurrentBackwardOp
    : NN_ComputeOp<"recurrent_backward", [AllTypesMatch<["initial", "dlast", "dinitial"]>,
                                          AllTypesMatch<["r", "dr"]>]> {
  let summary = "gradients of a recurrent layer";
  let description = [{
    Shapes follow NN23.
    `%dx, %dr, %db, %ds = nn.recurrent_backward %r, %s, %saved, %dy, %dlast {..} : (..) -> (..)`.
  }];
  let arguments = (ins NN_FloatTensor:$r, NN_FloatTensor:$initial, NN_FloatTensor:$saved,
                       NN_FloatTensor:$dy, NN_FloatTensor:$dlast, Optional<NN_Tensor>:$lengths,
                       I64Attr:$cell, UnitAttr:$reverse);
  let results = (outs NN_FloatTensor:$dx, NN_FloatTensor:$dr, NN_FloatTensor:$dbias,
                      NN_FloatTensor:$dinitial);
  let assemblyFormat = [{
    $r `,` $initial `,` $saved `,` $dy `,` $dlast (`lengths` $lengths^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
