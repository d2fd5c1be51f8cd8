// Operations of the sync dialect.
#ifndef SYNCLINE_SYNC_OPS_TD
#define SYNCLINE_SYNC_OPS_TD

include "ir/sync/SyncAttrs.td"

def Sync_GradientOp : Sync_Op<"gradient", [Pure, AllTypesMatch<["local", "agreed"]>]> {
  let summary = "the mean of a gradient over all ranks, by a scheme that is not chosen yet";
  let description = [{
    The operand is this rank's gradient: `%g = sync.gradient %dw "fc.weight" : tensor<10x64xf32>`.
  }];
  let arguments = (ins AnyRankedTensor:$local, StrAttr:$parameter);
  let results = (outs AnyRankedTensor:$agreed);
  let assemblyFormat = "$local $parameter attr-dict `:` type($local)";
}

def Sync_AllReduceOp : Sync_Op<"all_reduce", [Pure]> {
  let summary = "one message: the members' mean over all ranks";
  let description = [{
    The members are a bucket: gradients that travel together. `bucket` numbers the messages in issue
    order (S1). `cut` is that of `#sync.message`: bytes that it leaves out stay as they are, and
    another message takes the result. `gather_place` is that of the message's `#sync.gather`: it
    travels in halves.

    ```mlir
    %a, %b = sync.all_reduce %da, %db {bucket = 0 : i64, channel = 0 : i64,
      scheme = #cluster<scheme ring>, members = ["fc.bias", "fc.weight"]}
      : (tensor<10xf32>, tensor<10x64xf32>) -> (tensor<10xf32>, tensor<10x64xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$local, StrArrayAttr:$members, I64Attr:$bucket,
                       I64Attr:$channel, Sync_Scheme:$scheme,
                       OptionalAttr<DenseI64ArrayAttr>:$cut, OptionalAttr<I64Attr>:$gather_place);
  let results = (outs Variadic<AnyRankedTensor>:$agreed);
  let assemblyFormat = "$local attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sync_AllGatherOp : Sync_Op<"all_gather", [Pure]> {
  let summary = "one message: every rank's factors of the members' gradients";
  let description = [{
    A product x^T dy that contracts the samples has x and dy as factors. Its sum over the ranks is
    the product of the gathered factors. Result i is operand i of all ranks, in rank order along
    dimension 0 (S4). `members` are the parameters whose gradients are computed from the results: a
    weight, and biases that are sums of the same dy. The other attributes are those of
    `sync.all_reduce`.

    ```mlir
    %xs, %dys = sync.all_gather %x, %dy {bucket = 0 : i64, channel = 0 : i64,
      members = ["fc.weight", "fc.bias"]}
      : (tensor<8x64xf32>, tensor<8x10xf32>) -> (tensor<32x64xf32>, tensor<32x10xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$local, StrArrayAttr:$members, I64Attr:$bucket,
                       I64Attr:$channel);
  let results = (outs Variadic<AnyRankedTensor>:$gathered);
  let assemblyFormat = "$local attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of ranks whose factors the results hold.
    int64_t ranks() {
      return ::llvm::cast<::mlir::RankedTensorType>(getGathered().front().getType()).getDimSize(0) /
             ::llvm::cast<::mlir::RankedTensorType>(getLocal().front().getType()).getDimSize(0);
    }
  }];
}

def Sync_TraceOp
    : Sync_Op<"trace",
              [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "a model known only by its layers' times and sizes";
  let description = [{
    The body holds `sync.layer` operations in forward order. A trace takes the place of an `nn.step`
    in a module that is planned but not run. `of_step` marks a trace whose computation is that of a
    step as a program has it.

    ```mlir
    sync.trace @alexnet {
      sync.layer "fc6" bytes 411041792 forward 1.2e-2 backward 2.5e-2
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$of_step);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Sync_LayerOp : Sync_Op<"layer", [HasParent<"TraceOp">]> {
  let summary = "one layer of a trace";
  let description = [{
    `matmul` is [M, N, K] of a layer whose gradient is a product of two factors. Traces made from a
    model say instead what is `gathered`, the seconds that one more rank's samples add to computing
    the gradient from it (`reconstruct`), and the layer from whose factors the gradient can be
    computed too (`carrier`), as a bias's can. `update` is the seconds of the optimizer for the
    layer's parameters. The last two numbers are 0 where absent (S3). `reader` names the layer whose
    forward pass reads the layer's parameters first; it is the layer itself where absent.

    ```mlir
    sync.layer "fc6" bytes 411041792 forward 1.2e-2 backward 2.5e-2 matmul [25088, 4096, 32]
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$bytes, F64Attr:$forward, F64Attr:$backward,
                       OptionalAttr<DenseI64ArrayAttr>:$matmul, OptionalAttr<F64Attr>:$update,
                       OptionalAttr<Sync_GatheredAttr>:$gathered,
                       OptionalAttr<F64Attr>:$reconstruct, OptionalAttr<StrAttr>:$carrier,
                       OptionalAttr<StrAttr>:$reader);
  let assemblyFormat = [{
    $name `bytes` $bytes `forward` $forward `backward` $backward (`matmul` $matmul^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Sync_ProblemOp : Sync_Op<"problem", [Symbol]> {
  let summary = "which scheme each gradient may travel by, and which gradients may share a message";
  let description = [{
    Layers stand in backward order. Gradient k has `bytes[k]` and is ready at `ready[k]`, and ready
    times ascend. Messages go one after the other on one channel. A gradient travels in one of these
    ways:
    - in a bucket of one of the `merge_classes`: of those whose bit is set in `only[k]`, or of all
      where `only` is absent;
    - alone, by one of its `factor_options`;
    - without a message of its own, where `piggybacks` has the pair [k, c] and c travels alone.

    A solution's finish is the latest of these times: the end of the backward pass, the end of the
    last message, the reconstruction of the last gradient. `requested` holds the schemes that the
    user requested, as written ("fc*=factors"). Solutions are compared among those that have them.
    `forward_end` and `updates` (the time of all updates) serve the prediction of the whole step,
    which is finish + updates. passes/problem/README.md has the model.

    With `tails` the next forward pass waits for each gradient alone. Entry k is the computation, in
    seconds, that is left of that pass once layer k's parameters are updated, which takes entry k of
    `own_updates`. A solution is then an
    order: its messages may overtake each other and cut gradients, its times count from the
    beginning of the backward pass, and its finish is the period, the time from one step to the next
    (S18).

    With `memory_bound` messages slow classes of operations unequally. It lists when operations that
    live on the memory's bandwidth begin and end, were they never slowed, from the step's beginning
    on: [begin, end, begin, end, ..]. All others are products (S24). Of an order its period counts
    `lost` all the same, and its bound the least of any class.

    With `consistency` gradients do not travel. The problem is that of a single rank, whose messages
    take no time (S20). Weights travel in messages of their own, which are part of the plan.

    ```mlir
    sync.problem @p layers ["fc", "conv"] bytes [4096, 1024] ready <[0.1, 0.2]>
      merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0e-3, b = 1.0e-9>,
                                         traffic = 3.0>]>]
      factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0e-3,
                                          reconstruct = 2.0e-3, traffic = 1000.0>]
      forward_end 0.05 backward_end 0.25 updates 0.01
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$layers, DenseI64ArrayAttr:$bytes,
                       Sync_TimesAttr:$ready,
                       TypedArrayAttrBase<Sync_MergeClassAttr, "merge_classes">:$mergeClasses,
                       OptionalAttr<TypedArrayAttrBase<
                           Sync_FactorOptionAttr, "ways to travel alone">>:$factorOptions,
                       OptionalAttr<DenseI64ArrayAttr>:$piggybacks,
                       OptionalAttr<DenseI64ArrayAttr>:$only,
                       OptionalAttr<StrArrayAttr>:$requested, F64Attr:$forward_end,
                       F64Attr:$backward_end, F64Attr:$updates,
                       OptionalAttr<Sync_TimesAttr>:$tails,
                       OptionalAttr<Sync_TimesAttr>:$own_updates,
                       OptionalAttr<Sync_TimesAttr>:$memory_bound,
                       OptionalAttr<Sync_ConsistencyAttr>:$consistency);
  let assemblyFormat = [{
    $sym_name `layers` $layers `bytes` $bytes `ready` $ready `merge_classes` $mergeClasses
    (`factor_options` $factorOptions^)? (`piggybacks` $piggybacks^)? (`only` $only^)?
    (`requested` $requested^)? `forward_end` $forward_end `backward_end` $backward_end
    `updates` $updates (`tails` $tails^ `own_updates` $own_updates)?
    (`memory_bound` $memory_bound^)? (`consistency` $consistency^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The list `factor_options`, empty where it is absent.
    ::llvm::SmallVector<FactorOptionAttr> factorOptionList();
  }];
}

def Sync_SolutionOp : Sync_Op<"solution"> {
  let summary = "a claimed answer to a problem, with its proof";
  let description = [{
    `messages` stand in issue order. Layers that travel without a message of their own are
    `piggybacks`. Times, finish, bound and certificate are those of one channel, even where messages
    take turns on several. No solution finishes before `bound`. `certificate`, where present, proves
    this in one of three forms (passes/proof/README.md):
    - #sync.times, for a problem of one merge class without limits that every gradient may use, and
      no factor options. It is an array f with f(0) = 0 and f(j) <= max(f(i), ready(j)) +
      cost(i+1..j) for all i < j. So no solution's last message ends before f(n).
    - #sync.order, for a problem with `tails`.
    - #sync.relaxations, for every other problem.

    `cases` proves the bound of an order in cases (S18). A case is one of these arrays:
    - a bound in seconds and its #sync.order;
    - a layer, the case in which it travels by factors, and the case in which it travels in a
      bucket;
    - a layer that travels by factors, another layer, the case in which the first one's factors
      travel before the other one's last message, and the case in which they travel behind all of
      its messages.

    `certificate` is then the #sync.order of the case that proves least.

    The pass `check-solutions` checks the claim; nothing trusts it unchecked.

    ```mlir
    sync.solution of @p by "optimal"
      messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 5120,
                              ready = 0.2, start = 0.2, end = 0.3>]
      finish 0.3 bound 0.3 certificate #sync.times<[0.0, 0.15, 0.3]>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$problem, StrAttr:$planner,
                       TypedArrayAttrBase<Sync_MessageAttr, "messages">:$messages,
                       OptionalAttr<DenseI64ArrayAttr>:$piggybacks, F64Attr:$finish, F64Attr:$bound,
                       OptionalAttr<AnyAttrOf<[Sync_TimesAttr, Sync_RelaxationsAttr,
                                               Sync_OrderAttr]>>:$certificate,
                       OptionalAttr<ArrayAttr>:$cases);
  let assemblyFormat = [{
    `of` $problem `by` $planner `messages` $messages (`piggybacks` $piggybacks^)? `finish` $finish
    `bound` $bound (`certificate` $certificate^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of channels on which the messages take turns.
    int64_t channels();
    /// Where a prediction's lists have the all-gather of a message in halves: behind all messages.
    size_t placeOfGather(size_t message);
  }];
}

def Sync_PredictionOp : Sync_Op<"prediction"> {
  let summary = "the times of a plan in virtual time";
  let description = [{
    The simulation (passes/simulate) runs one step of the program, or of the trace, with the
    problem's solution on the cluster. Times count from the step's beginning. Where a step waits for
    messages of the step before, it runs steps until they take equally long; the times are those of
    such a step, and its messages may end after it.

    Entry i of a list concerns message i. Behind the messages stand the all-gathers of those in
    halves, in the messages' order (S16):
    - `ready`: the last rank has the message at hand;
    - `start`: the last rank begins it;
    - `end`: it is over on all ranks;
    - `reconstructed`: the last rank has its gradients;
    - `exposed`: seconds that computation waits for it, on the rank that waits least.

    The other numbers concern the step:
    - `step`: the last rank is done, counted from when it was done with the step before. Where the
      program has `accumulate`, this counts all its micro-batches, all other times the last
      one only;
    - `forward_end`, `backward_end`, `communication_end`, `reconstruction_end`: the last rank has
      finished the forward pass, the backward pass, its messages, its reconstructions;
    - `updates`: seconds of all updates, on the rank that is done last.

    These numbers stand where they apply (P22):
    - `alone`: the step of one device that sends nothing. It computes what a rank computes, updates
      all parameters, and has no slowdown. Scaling is measured against it;
    - `waiting`: what a rank waits for weights in a step, in the mean over a period;
    - `unclipped`: the step without `clip_norm`;
    - `micro_batch`: in a step of several batches, a micro-batch that is not the last one;
    - `least_micro_batch`: what each of these takes at least, by any plan of the problem;
    - `whole`: the step of the plan without gradients in two parts, as it was planned to compare;
    - `gathering`: the step with the messages that are best for one batch, which is longer.

    The times of a `sync.solution` differ. They are those of the planner's model, in which updates
    come last and messages do not slow computation.

    ```mlir
    sync.prediction of @p ready <[0.2]> start <[0.2]> end <[0.3]> reconstructed <[0.3]>
      exposed <[0.05]> forward_end 0.05 backward_end 0.25 communication_end 0.3
      reconstruction_end 0.3 updates 0.01 step 0.31
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$problem, Sync_TimesAttr:$ready, Sync_TimesAttr:$start,
                       Sync_TimesAttr:$end, Sync_TimesAttr:$reconstructed, Sync_TimesAttr:$exposed,
                       F64Attr:$forward_end, F64Attr:$backward_end, F64Attr:$communication_end,
                       F64Attr:$reconstruction_end, F64Attr:$updates, F64Attr:$step,
                       OptionalAttr<F64Attr>:$alone, OptionalAttr<F64Attr>:$waiting,
                       OptionalAttr<F64Attr>:$unclipped, OptionalAttr<F64Attr>:$micro_batch,
                       OptionalAttr<F64Attr>:$least_micro_batch, OptionalAttr<F64Attr>:$whole,
                       OptionalAttr<F64Attr>:$gathering);
  let assemblyFormat = [{
    `of` $problem `ready` $ready `start` $start `end` $end `reconstructed` $reconstructed
    `exposed` $exposed `forward_end` $forward_end `backward_end` $backward_end
    `communication_end` $communication_end `reconstruction_end` $reconstruction_end
    `updates` $updates `step` $step attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The seconds in which computation waits for messages, on the rank that waits least.
    double exposedSeconds();
  }];
}

#endif
