// Operations of the sync dialect.
#ifndef SYNCLINE_SYNC_OPS_TD
#define SYNCLINE_SYNC_OPS_TD

include "ir/sync/SyncAttrs.td"

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

def Sync_AllGatherOp : Sync_Op<"all_gather", [Pure]> {
  let summary = "one message: every rank's factors of the members' gradients";
  let description = [{
    Sufficient factors: the sum over ranks of a product x^T dy that contracts samples is the product of the gathered x and dy. Result i is
    the ranks' operand i, one behind the other along dimension 0, in rank order. `members` are the parameters whose gradients are
    computed from the results: a weight, and biases that are sums of the same dy. Numbers and times as `sync.all_reduce` has them.

    ```mlir
    %xs, %dys = sync.all_gather %x, %dy {bucket = 0 : i64, channel = 0 : i64, members = ["fc.weight", "fc.bias"],
      ready = 0.1 : f64, start = 0.1 : f64, end = 0.2 : f64}
      : (tensor<8x64xf32>, tensor<8x10xf32>) -> (tensor<32x64xf32>, tensor<32x10xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$local, StrArrayAttr:$members, I64Attr:$bucket, I64Attr:$channel,
                       F64Attr:$ready, F64Attr:$start, F64Attr:$end);
  let results = (outs Variadic<AnyRankedTensor>:$gathered);
  let assemblyFormat = "$local attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many ranks' factors the results hold.
    int64_t ranks() {
      return ::llvm::cast<::mlir::RankedTensorType>(getGathered().front().getType()).getDimSize(0) /
             ::llvm::cast<::mlir::RankedTensorType>(getLocal().front().getType()).getDimSize(0);
    }
  }];
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
  let summary = "by which scheme every gradient travels, and which travel together: an instance of P1 and of the choice";
  let description = [{
    Layers in backward order: gradient k of `bytes[k]` is ready at `ready[k]` (ascending). Messages go one after the other on one channel. A
    gradient travels in a bucket of one of the `merge_classes` (those whose bit is set in `only[k]`; all where `only` is absent), alone by one of its
    `factor_options`, or, where `piggybacks` has the pair [k, c], without a message when c travels alone. A plan's finish is the latest of the backward
    pass's end, its last message's, and the last gradient's reconstruction. `requested` holds the schemes that were requested by name, as they were
    written ("fc*=factors"): answers are judged among plans that have them. `forward_end` and `updates` (the time of all updates) are kept for
    the prediction of the whole step: finish + updates. The model: passes/solver/README.md.

    ```mlir
    sync.problem @p layers ["fc", "conv"] bytes [4096, 1024] ready <[0.1, 0.2]>
      merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0e-3, b = 1.0e-9>, traffic = 3.0>]>]
      factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0e-3, reconstruct = 2.0e-3, traffic = 1000.0>]
      forward_end 0.05 backward_end 0.25 updates 0.01
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$layers, DenseI64ArrayAttr:$bytes, Sync_TimesAttr:$ready,
                       TypedArrayAttrBase<Sync_MergeClassAttr, "merge_classes">:$mergeClasses,
                       OptionalAttr<TypedArrayAttrBase<Sync_FactorOptionAttr, "ways to travel alone">>:$factorOptions,
                       OptionalAttr<DenseI64ArrayAttr>:$piggybacks, OptionalAttr<DenseI64ArrayAttr>:$only,
                       OptionalAttr<StrArrayAttr>:$requested, F64Attr:$forward_end, F64Attr:$backward_end, F64Attr:$updates);
  let assemblyFormat = [{
    $sym_name `layers` $layers `bytes` $bytes `ready` $ready `merge_classes` $mergeClasses (`factor_options` $factorOptions^)? (`piggybacks` $piggybacks^)? (`only` $only^)?
    (`requested` $requested^)? `forward_end` $forward_end `backward_end` $backward_end `updates` $updates attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// `factor_options`, empty where there are none.
    ::llvm::SmallVector<FactorOptionAttr> factorOptionList();
  }];
}

def Sync_SolutionOp : Sync_Op<"solution"> {
  let summary = "a claimed answer to a problem, with its proof";
  let description = [{
    `messages` in issue order; layers that travel without one are `piggybacks`. `bound` is what no answer can beat. `certificate`, when present,
    proves it: #sync.times is the array f of P1 for a problem of one merge class without limits where every gradient has only that merge class; f(0) = 0 and
    f(j) <= max(f(i), ready(j)) + cost(i+1..j) for all i < j, so that no plan's last message ends before f(n). #sync.states is a joint certificate.
    Checked by `check-solutions`, never trusted.

    ```mlir
    sync.solution of @p by "optimal" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 5120, ready = 0.2,
      start = 0.2, end = 0.3>] finish 0.3 bound 0.3 certificate #sync.times<[0.0, 0.15, 0.3]>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$problem, StrAttr:$planner, TypedArrayAttrBase<Sync_MessageAttr, "messages">:$messages,
                       OptionalAttr<DenseI64ArrayAttr>:$piggybacks, F64Attr:$finish, F64Attr:$bound,
                       OptionalAttr<AnyAttrOf<[Sync_TimesAttr, Sync_StatesAttr]>>:$certificate);
  let assemblyFormat = [{
    `of` $problem `by` $planner `messages` $messages (`piggybacks` $piggybacks^)? `finish` $finish `bound` $bound
    (`certificate` $certificate^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Sync_PredictionOp : Sync_Op<"prediction"> {
  let summary = "what a plan takes in virtual time";
  let description = [{
    What the simulation says of one step of the program, or of the trace, by the problem's solution on the cluster (passes/simulate). Entry i of the
    lists is of message i: `ready` when the last rank has it at hand, `start` when the last rank begins it, `end` when it is over on all,
    `reconstructed` when the last rank has its gradients, all from the step's beginning, and `exposed`, how long computation waits for it, on the rank that
    waits least. `step` is when the last rank is done, the `_end`s are when the last is through with the forward pass, the backward pass, its
    messages and the reconstruction; `updates` is what all updates take, on the rank that is done last. The solution's times are the solver's
    model's, in which updates come last and computation is undisturbed: they differ.

    ```mlir
    sync.prediction of @p ready <[0.2]> start <[0.2]> end <[0.3]> reconstructed <[0.3]> exposed <[0.05]>
      forward_end 0.05 backward_end 0.25 communication_end 0.3 reconstruction_end 0.3 updates 0.01 step 0.31
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$problem, Sync_TimesAttr:$ready, Sync_TimesAttr:$start, Sync_TimesAttr:$end,
                       Sync_TimesAttr:$reconstructed, Sync_TimesAttr:$exposed, F64Attr:$forward_end, F64Attr:$backward_end,
                       F64Attr:$communication_end, F64Attr:$reconstruction_end, F64Attr:$updates, F64Attr:$step);
  let assemblyFormat = [{
    `of` $problem `ready` $ready `start` $start `end` $end `reconstructed` $reconstructed `exposed` $exposed `forward_end` $forward_end
    `backward_end` $backward_end `communication_end` $communication_end `reconstruction_end` $reconstruction_end `updates` $updates `step` $step
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Seconds in which computation waits for messages, on the rank that waits least.
    double exposedSeconds();
  }];
}

#endif
