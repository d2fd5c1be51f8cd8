// Operations of the plan dialect.
#ifndef SYNCLINE_PLAN_OPS_TD
#define SYNCLINE_PLAN_OPS_TD

include "ir/plan/PlanDialect.td"

def Plan_ProgramOp
    : Plan_Op<"program",
              [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one step of one rank, in issue order";
  let description = [{
    `spaces` gives each space's size in bytes. All ranks execute the same program, so all issue the
    same collectives in the same order (P7). `servers` is the number of processes besides the ranks
    that are parameter servers; it is absent where there are none.

    `overlap = "step"` allows buckets that are carried over the step's end: their `plan.wait` stands
    before their `plan.issue` and waits for the message of the step before (P29).

    With `consistency` gradients stay on their rank, and weights travel in `plan.exchange` (P31).

    With `clip_norm` all mean gradients are multiplied by min(1, clip_norm / norm), where norm is
    that of all of them together. Then all updates follow the last message (P32). With `accumulate`
    a step adds up the gradients of so many batches, one micro-batch after the other, and applies
    their mean; without, it has one micro-batch (P36).

    ```mlir
    plan.program @mlp ranks 4 batch 16 spaces {arena = 4096 : i64, parameters = 1024 : i64, ...} {
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$ranks, I64Attr:$batch,
                       DictionaryAttr:$spaces, OptionalAttr<I64Attr>:$servers,
                       OptionalAttr<StrAttr>:$overlap,
                       OptionalAttr<Plan_Consistency>:$consistency,
                       OptionalAttr<F64Attr>:$clip_norm, OptionalAttr<I64Attr>:$accumulate);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `ranks` $ranks `batch` $batch `spaces` $spaces attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_TensorOp : Plan_Op<"tensor", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a tensor and its place";
  let description = [{
    The tensor has `reserve` bytes from the offset in its space. A kernel's own layout may need more
    than the dense size. An arena tensor lives from operation `live[0]` to operation `live[1]`; the
    numbers count the program's operations that execute (P3).
    - `bucket` is the bucket of a parameter or gradient.
    - `values` says where a stored tensor's values start in the weights file.
    - `init` says how a stored tensor without values starts: `#nn.init`, or a constant's elements.
    - `output` marks the model's output, which is complete after the forward phase.
    - `fixed` marks a constant with `values`: one that is too large for `init` (P27f).
    - `rounded` marks a tensor of f32 that is stored as bf16, so that it needs two bytes an element
      (P33).
    - `of` names the model's input whose integers an input holds as f32.

    ```mlir
    %0 = plan.tensor "fc.weight" in parameters at 0 reserve 2560
      {bucket = 0 : i64, values = 128 : i64} : memref<10x64xf32>
    %1 = plan.tensor "relu1" in arena at 4096 reserve 1024 live [3, 17] : memref<4x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Plan_Space:$space, I64Attr:$offset, I64Attr:$reserve,
                       OptionalAttr<DenseI64ArrayAttr>:$live, OptionalAttr<I64Attr>:$bucket,
                       OptionalAttr<I64Attr>:$values, OptionalAttr<AnyAttr>:$init,
                       UnitAttr:$output, UnitAttr:$rounded, UnitAttr:$fixed,
                       OptionalAttr<StrAttr>:$of);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $name `in` custom<Space>($space) `at` $offset `reserve` $reserve (`live` $live^)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The model's input whose values the tensor holds.
    ::llvm::StringRef source() { return getOf().value_or(getName()); }
  }];
}

def Plan_BucketOp : Plan_Op<"bucket"> {
  let summary = "gradients that travel as one message";
  let description = [{
    `bytes` is the size of the members. `extent` is the length of their interval in the gradients
    space, where members are aligned. That interval travels, except by `factors`: then the members
    are computed from what `plan.gather` brings (P14 to P16). By `reduce-scatter` the message itself
    updates the parameters (P17). A bucket that is `halved` travels in halves (P30). By
    `sparse` each rank contributes `rows` rows of an embedding's gradient; no step has more, since
    the model's batch and sequence are fixed (P34).

    ```mlir
    plan.bucket 0 members ["fc.bias", "fc.weight"] by ring channel 0 at 0 extent 2624 bytes 2600
    ```
  }];
  let arguments = (ins I64Attr:$id, StrArrayAttr:$members, Plan_Scheme:$scheme, I64Attr:$channel,
                       I64Attr:$offset, I64Attr:$extent, I64Attr:$bytes,
                       OptionalAttr<I64Attr>:$rows, UnitAttr:$halved);
  let assemblyFormat = [{
    $id `members` $members `by` custom<SchemeName>($scheme) `channel` $channel `at` $offset
    `extent` $extent `bytes` $bytes attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ExchangeOp : Plan_Op<"exchange", [HasParent<"ProgramOp">]> {
  let summary = "a fragment of the weights, and when it travels";
  let description = [{
    The interval [offset, offset + extent) of the parameters' space holds the members. It travels
    once in every period of the program's `consistency`: the message starts after `start` steps of
    the period, and has arrived after `wait` steps of it, or at any time where `wait` is absent.
    `seconds` is what the message takes, and `traffic` the bytes that a node moves for it in both
    directions (P31).

    ```mlir
    plan.exchange 0 members ["fc.bias", "fc.weight"] by ring at 0 extent 2624 bytes 2600
      start 3 wait 4 seconds 1.0e-3 traffic 7.8e+03
    ```
  }];
  let arguments = (ins I64Attr:$id, StrArrayAttr:$members, Plan_Scheme:$scheme, I64Attr:$offset,
                       I64Attr:$extent, I64Attr:$bytes, I64Attr:$start, OptionalAttr<I64Attr>:$wait,
                       F64Attr:$seconds, F64Attr:$traffic);
  let assemblyFormat = [{
    $id `members` $members `by` custom<SchemeName>($scheme) `at` $offset `extent` $extent
    `bytes` $bytes `start` $start (`wait` $wait^)? `seconds` $seconds `traffic` $traffic attr-dict
  }];
}

def Plan_ShardOp : Plan_Op<"shard", [HasParent<"ProgramOp">]> {
  let summary = "the part of the weights that one server has";
  let description = [{
    Server `server` has the interval [offset, offset + extent) of the parameters' space. Where the
    program has `servers`, it is that one of them; else the server is in the process of the rank of
    that number (P31).

    ```mlir
    plan.shard 1 at 1344 extent 1280
    ```
  }];
  let arguments = (ins I64Attr:$server, I64Attr:$offset, I64Attr:$extent);
  let assemblyFormat = "$server `at` $offset `extent` $extent attr-dict";
}

def Plan_PhaseOp : Plan_Op<"phase"> {
  let summary = "begins a part of the step";
  let description = [{The operations after `plan.phase forward` belong to the forward phase.}];
  let arguments = (ins Plan_Phase:$phase);
  let assemblyFormat = "custom<Phase>($phase) attr-dict";
}

def Plan_CallOp : Op<Plan_Dialect, "call", [AttrSizedOperandSegments]> {
  let summary = "one kernel";
  let description = [{
    `roles` names the operands, inputs first, as the runtime's step builder names its arguments.
    Absent operands are left out. `seconds` is the predicted time, and may be absent (P21). The
    attributes of the nn operation that the call comes from keep their names. They are not declared
    here, because syncline/Kernels.inc lists them for each kernel; that operation judges them (P28).

    ```mlir
    plan.call conv "conv1" ["x", "w", "y"] ins(%0, %1 : memref<...>, memref<...>)
      outs(%2 : memref<...>) {strides = array<i64: 2, 2>, ...}
    ```
  }];
  let arguments = (ins Plan_Kernel:$callee, StrAttr:$layer, StrArrayAttr:$roles,
                       Variadic<AnyMemRef>:$ins, Variadic<AnyMemRef>:$outs,
                       OptionalAttr<F64Attr>:$seconds);
  let assemblyFormat = [{
    custom<Kernel>($callee) $layer $roles (`ins` `(` $ins^ `:` type($ins) `)`)?
    (`outs` `(` $outs^ `:` type($outs) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_PointwiseOp
    : Plan_Op<"pointwise",
              [AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a generated loop";
  let description = [{
    The body computes one element of each result (P6). `flat` says that all operands have the
    results' shape, so that the loop works in any layout that they have in common. `keeps_zero` says
    that the loop maps zeroes to zeroes. `seconds` is the predicted time (P21).

    ```mlir
    plan.pointwise "relu1" ins(%0 : memref<4x8xf32>) outs(%1 : memref<4x8xf32>)
      attributes {flat, keeps_zero} {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %x, %zero : f32
      plan.yield %y : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$layer, Variadic<AnyMemRef>:$ins, Variadic<AnyMemRef>:$outs,
                       UnitAttr:$flat, UnitAttr:$keeps_zero, OptionalAttr<F64Attr>:$seconds);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $layer (`ins` `(` $ins^ `:` type($ins) `)`)? `outs` `(` $outs `:` type($outs) `)`
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["PointwiseOp"]>]> {
  let summary = "ends a pointwise body";
  let description = [{`plan.yield %s : f32` has one value for each result of the loop (P6).}];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Plan_LossOp : Plan_Op<"loss"> {
  let summary = "the scalar that a step reports";
  let description = [{A program reports one loss (P25): `plan.loss %l : memref<f32>`.}];
  let arguments = (ins AnyMemRef:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

class Plan_BucketStepOp<string mnemonic, string what> : Plan_Op<mnemonic> {
  let summary = what;
  let arguments = (ins I64Attr:$bucket);
  let assemblyFormat = "$bucket attr-dict";
}
def Plan_IssueOp : Plan_BucketStepOp<"issue", "hands a complete bucket to its channel"> {
  let description = [{
    After `plan.issue 0` no operation reads or writes the bucket's gradients until `plan.wait 0`
    (P5).
  }];
}
def Plan_GatherOp : Plan_Op<"gather", [AttrSizedOperandSegments, HasParent<"ProgramOp">]> {
  let summary = "hands the factors of a bucket to its channel";
  let description = [{
    Takes the place of `plan.issue` where the bucket travels by factors. outs[i] becomes ins[i] of
    all ranks, in rank order along dimension 0. It may be read after `plan.wait` (P14, P15).

    ```mlir
    plan.gather 0 ins(%x, %dy : memref<8x64xf32>, memref<8x10xf32>)
      outs(%xs, %dys : memref<32x64xf32>, memref<32x10xf32>)
    ```
  }];
  let arguments = (ins I64Attr:$bucket, Variadic<AnyMemRef>:$ins, Variadic<AnyMemRef>:$outs);
  let assemblyFormat = [{
    $bucket `ins` `(` $ins `:` type($ins) `)` `outs` `(` $outs `:` type($outs) `)` attr-dict
  }];
  let hasVerifier = 1;
}
def Plan_AllGatherOp
    : Plan_BucketStepOp<"all_gather", "hands a bucket's second half to its channel"> {
  let description = [{
    A bucket with `plan.all_gather 0` travels in halves. `plan.issue 0` hands over the
    reduce-scatter, `plan.all_gather 0` the all-gather, and `plan.wait 0` waits for both (P30). A
    bucket by `reduce-scatter` updates each rank's share between them and gathers the parameters. A
    bucket by another scheme with halves gathers the sums.
  }];
}
def Plan_WaitOp
    : Plan_BucketStepOp<"wait", "blocks the compute stream until the bucket has arrived"> {
  let description = [{
    `plan.wait 0` follows the bucket's `plan.issue` or `plan.gather` (P11). Where it stands before
    them, it waits for the message of the step before (P29).
  }];
}
def Plan_UpdateOp : Plan_BucketStepOp<"update", "the optimizer's step for a bucket's parameters"> {
  let description = [{
    `plan.update 0 {seconds = 1.0e-4 : f64}` is one loop over the bucket's interval. `seconds` is
    the predicted time, and may be absent (P21).
  }];
  let arguments = (ins I64Attr:$bucket, OptionalAttr<F64Attr>:$seconds);
  let hasVerifier = 1;
}

#endif
