// Operations of the sync dialect.
#ifndef SYNCLINE_SYNC_OPS_TD
#define SYNCLINE_SYNC_OPS_TD

include "ir/sync/SyncDialect.td"

def Sync_GradientOp : Sync_Op<"gradient", [Pure, AllTypesMatch<["local", "agreed"]>]> {
  let summary = "this rank's gradient in, the ranks' mean out; how is not chosen";
  let description = [{`%g = sync.gradient %dw "fc.weight" : tensor<10x64xf32>`.}];
  let arguments = (ins AnyRankedTensor:$local, StrAttr:$parameter);
  let results = (outs AnyRankedTensor:$agreed);
  let assemblyFormat = "$local $parameter attr-dict `:` type($local)";
}

def Sync_AllReduceOp : Sync_Op<"all_reduce", [Pure]> {
  let summary = "one message: the members' mean over all ranks";
  let description = [{
    A bucket of gradients that travel together. `bucket` numbers messages in issue order, `ready`, `start` and `end` are
    predicted times from the step's beginning.

    ```mlir
    %a, %b = sync.all_reduce %da, %db {bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>,
      members = ["fc.bias", "fc.weight"], ready = 0.1 : f64, start = 0.1 : f64, end = 0.2 : f64}
      : (tensor<10xf32>, tensor<10x64xf32>) -> (tensor<10xf32>, tensor<10x64xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$local, StrArrayAttr:$members, I64Attr:$bucket, I64Attr:$channel,
                       Sync_Scheme:$scheme, F64Attr:$ready, F64Attr:$start, F64Attr:$end);
  let results = (outs Variadic<AnyRankedTensor>:$agreed);
  let assemblyFormat = "$local attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sync_TraceOp : Sync_Op<"trace", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a model known only by its layers' times and sizes";
  let description = [{Holds `sync.layer` operations in forward order, in place of an `nn.step`: to plan only.}];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Sync_LayerOp : Sync_Op<"layer", [HasParent<"TraceOp">]> {
  let summary = "one layer of a trace";
  let description = [{
    `sync.layer "fc6" bytes 411041792 forward 1.2e-2 backward 2.5e-2 matmul [25088, 4096, 32]`; matmul is [M, N, K] of a
    layer whose gradient is a product of two factors.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$bytes, F64Attr:$forward, F64Attr:$backward,
                       OptionalAttr<DenseI64ArrayAttr>:$matmul);
  let assemblyFormat = "$name `bytes` $bytes `forward` $forward `backward` $backward (`matmul` $matmul^)? attr-dict";
  let hasVerifier = 1;
}

def Sync_ProblemOp : Sync_Op<"problem", [Symbol]> {
  let summary = "which gradients to merge: an instance of P1";
  let description = [{
    Layers in backward order: gradient k of `bytes[k]` is ready at `ready[k]` (ascending). A message of b bytes occupies the one
    channel for `cost`(b), an attribute of the cluster dialect. A plan's finish is the end of its last message. `forward_end`, `backward_end` and `updates` (the
    time of all updates) are kept for the prediction of the whole step: max(backward_end, finish) + updates.

    ```mlir
    sync.problem @p layers ["fc", "conv"] bytes [4096, 1024] ready [0.1, 0.2] forward_end 0.05 backward_end 0.25 updates 0.01
      cost #cluster.affine<a = 1.0e-3, b = 1.0e-9>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$layers, DenseI64ArrayAttr:$bytes,
                       Sync_TimesAttr:$ready, F64Attr:$forward_end, F64Attr:$backward_end, F64Attr:$updates, AnyAttr:$cost);
  let assemblyFormat = [{
    $sym_name `layers` $layers `bytes` $bytes `ready` $ready `forward_end` $forward_end `backward_end` $backward_end `updates` $updates
    `cost` $cost attr-dict
  }];
  let hasVerifier = 1;
}

def Sync_SolutionOp : Sync_Op<"solution"> {
  let summary = "a claimed answer to a problem, with its proof";
  let description = [{
    Bucket i holds layers ends[i-1]..ends[i]-1 and occupies the channel in [start[i], end[i]]. `bound` is what no answer can beat. `certificate`,
    when present, is the array f of design P1: f(0) = 0 and f(j) ≤ max(f(i), ready(j)) + cost(i+1..j) for all i < j, so that finish = f(n)
    is optimal. Checked by `check-solutions`, never trusted.

    ```mlir
    sync.solution of @p by "optimal" ends [2] start [0.2] end [0.3] finish 0.3 bound 0.3 certificate [0.0, 0.15, 0.3]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$problem, StrAttr:$planner, DenseI64ArrayAttr:$ends, Sync_TimesAttr:$start,
                       Sync_TimesAttr:$end, F64Attr:$finish, F64Attr:$bound,
                       OptionalAttr<Sync_TimesAttr>:$certificate);
  let assemblyFormat = [{
    `of` $problem `by` $planner `ends` $ends `start` $start `end` $end `finish` $finish `bound` $bound
    (`certificate` $certificate^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
