// Operations that take or place parts of a tensor by numbers that are a tensor themselves.
#ifndef SYNCLINE_NN_INDEX_OPS_TD
#define SYNCLINE_NN_INDEX_OPS_TD

include "ir/nn/NNDialect.td"

def NN_GatherRowsOp : NN_ComputeOp<"gather_rows"> {
  let summary = "entries of a dimension, by their numbers";
  let description = [{
    Dimension `axis` of x is replaced by the dimensions of `indices`, whose entries say which entry
    of it stands there; the first `shared` dimensions are those of both. A negative number counts
    from the end, and a number that is no entry's gives NaN (NN47).

    ```mlir
    %y = nn.gather_rows %x, %i {axis = 2 : i64, shared = 1 : i64}
         : (tensor<4x3x9x2xf32>, tensor<4x5xi64>) -> tensor<4x3x5x2xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, NN_Tensor:$indices, I64Attr:$axis, I64Attr:$shared);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_ScatterRowsOp : NN_ComputeOp<"scatter_rows"> {
  let summary = "places entries in a dimension, by their numbers";
  let description = [{
    The opposite of `gather_rows`: y is `onto`, zero where that is absent, into which the updates
    go. `kind` is a ScatterKind of syncline/ScatterKind.h: they are added, or replace, multiply, or
    bound what stands there, in their order. A number that is no entry's makes all NaN that shares
    the leading dimensions with it (NN47).

    ```mlir
    %y = nn.scatter_rows %u, %i onto %x {axis = 1 : i64, kind = 0 : i64, shared = 1 : i64}
         : (tensor<4x5xf32>, tensor<4x5xi64>, tensor<4x9xf32>) -> tensor<4x9xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$updates, NN_Tensor:$indices, Optional<NN_FloatTensor>:$onto,
                       I64Attr:$axis, I64Attr:$shared, I64Attr:$kind);
  let results = (outs NN_FloatTensor:$y);
  let assemblyFormat =
      "$updates `,` $indices (`onto` $onto^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_TopKOp : NN_ComputeOp<"top_k"> {
  let summary = "the largest or smallest elements of the last dimension, and where they are";
  let description = [{
    The elements of each row in descending order, or ascending without `largest`, and their places
    in the row as whole numbers in floating point. Of equal elements the first comes first; NaN is
    larger than every number (NN48).

    ```mlir
    %v, %i = nn.top_k %x {largest} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$x, UnitAttr:$largest);
  let results = (outs NN_FloatTensor:$values, NN_FloatTensor:$indices);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
