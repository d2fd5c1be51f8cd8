// Operations that move or reduce elements.
#ifndef SYNCLINE_NN_SHAPE_OPS_TD
#define SYNCLINE_NN_SHAPE_OPS_TD

include "ir/nn/NNDialect.td"

def NN_ReshapeOp : NN_ComputeOp<"reshape"> {
  let summary = "the same elements in row-major order, another shape";
  let description = [{`%y = nn.reshape %x : (tensor<4x8x3x3xf32>) -> tensor<4x72xf32>` (NN40).}];
  let arguments = (ins NN_Tensor:$x);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_TransposeOp : NN_ComputeOp<"transpose"> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of y is dimension permutation[i] of x (NN41).

    ```mlir
    %y = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x9xf32>) -> tensor<9x4xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_ConcatOp : NN_ComputeOp<"concat"> {
  let summary = "joins tensors along one axis";
  let description = [{
    The operands agree with y off the axis (NN42).

    ```mlir
    %y = nn.concat %a, %b {axis = 1 : i64}
         : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$xs, I64Attr:$axis);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$xs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

defvar sliceArguments = (ins DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);

def NN_SliceOp : NN_ComputeOp<"slice"> {
  let summary = "every step-th element from a start, in each dimension";
  let description = [{
    The result's shape gives the number of elements. Steps may be negative (NN43).

    ```mlir
    %y = nn.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}
         : (tensor<4x9xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = !con((ins NN_Tensor:$x), sliceArguments);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_SliceBackwardOp : NN_ComputeOp<"slice_backward"> {
  let summary = "zero everywhere but where a slice was taken";
  let description = [{
    dx has dy where the slice was taken from (NN43).

    ```mlir
    %dx = nn.slice_backward %dy {starts = ..., steps = ...} : (tensor<4x3xf32>) -> tensor<4x9xf32>
    ```
  }];
  let arguments = !con((ins NN_Tensor:$dy), sliceArguments);
  let results = (outs NN_Tensor:$dx);
  let assemblyFormat = "$dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_PadOp : NN_ComputeOp<"pad"> {
  let summary = "surrounds a tensor with a constant; negative begins crop";
  let description = [{
    y[i] is x[i - begin], or `value` where that lies outside x. The padding at the end follows from
    the shapes (NN44).

    ```mlir
    %y = nn.pad %x {begins = array<i64: 0, 1>, value = 0.0 : f64}
         : (tensor<4x9xf32>) -> tensor<4x11xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$x, DenseI64ArrayAttr:$begins, F64Attr:$value);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_ReduceOp : NN_ComputeOp<"reduce"> {
  let summary = "sum, mean or maximum over axes";
  let description = [{
    The result keeps the reduced dimensions as ones, or leaves them out (NN45). A maximum is NaN
    where one of its elements is.

    ```mlir
    %y = nn.reduce sum %x {axes = array<i64: 0>} : (tensor<4x9xf32>) -> tensor<9xf32>
    ```
  }];
  let arguments = (ins NN_Reduction:$kind, NN_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_EmbeddingOp : NN_ComputeOp<"embedding"> {
  let summary = "rows of a table, by their numbers";
  let description = [{
    y[i] is the table's row ids[i], or NaN where the table has no such row. A negative number counts
    from the table's end (NN46).

    ```mlir
    %y = nn.embedding %ids, %table
         : (tensor<4x7xi64>, tensor<50x16xf32>) -> tensor<4x7x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$ids, NN_FloatTensor:$table);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$ids `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_EmbeddingBackwardOp : NN_ComputeOp<"embedding_backward"> {
  let summary = "gradient of an embedding with respect to the table";
  let description = [{
    Each row of dtable is the sum of the rows of dy that were taken from it, zero where none was.
    With `onto`, another gradient of the table, the same row of that is part of the sum, and a plan
    may have the result in its place: then only rows that were taken are touched (NN46).

    ```mlir
    %dt = nn.embedding_backward %ids, %dy
          : (tensor<4x7xi64>, tensor<4x7x16xf32>) -> tensor<50x16xf32>
    %du = nn.embedding_backward %ids, %dy onto %head
          : (tensor<4x7xi64>, tensor<4x7x16xf32>, tensor<50x16xf32>) -> tensor<50x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$ids, NN_FloatTensor:$dy, Optional<NN_FloatTensor>:$onto);
  let results = (outs NN_FloatTensor:$dtable);
  let assemblyFormat =
      "$ids `,` $dy (`onto` $onto^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
