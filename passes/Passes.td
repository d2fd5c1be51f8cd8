// All passes of Syncline, in pipeline order.
#ifndef SYNCLINE_PASSES_TD
#define SYNCLINE_PASSES_TD

include "passes/StepPasses.td"

def InsertGradients : Pass<"insert-gradients", "::syncline::nn::StepOp"> {
  let summary = "puts an unchosen synchronisation between every gradient and its update";
  let description = [{
    Assumes: differentiated. Ensures: every `nn.update` takes the result of a `sync.gradient`, or,
    with `split-tied`, the sum of two where that is a tied gradient (passes/cost/TiedGradients.h).
    ```mlir
    nn.update %w, %dw : ...                                                  // before
    %g = sync.gradient %dw "w" : ...         nn.update %w, %g : ...          // after
    ```
  }];
  let options = [Option<"splitTied", "split-tied", "bool", "false", "Let its parts travel apart">];
  let dependentDialects = ["::syncline::sync::SyncDialect"];
}

def PoseProblem : Pass<"pose-problem", "::mlir::ModuleOp"> {
  let summary = "states the sync problem: what every gradient may do on the cluster";
  let description = [{
    Assumes: the module has `cluster.spec` and either a `sync.trace` or an `nn.step` that is
    differentiated, timed and has its `sync.gradient` operations. Ensures: a `sync.problem @merge`
    with one layer a gradient, in the order in which they are ready; merge classes and factor
    options are what the cluster offers (ir/cluster/SPEC.md, "Schemes") less what `requested` rules
    out. With `overlap=step` the problem has `tails`: its solutions are orders. With a `consistency`
    other than bsp it is the problem of one rank.
    Fails: as poseInstance says (passes/merge/Instance.h), with a diagnostic at the step or trace.

    ```mlir
    // Before, in a module with cluster.spec = #cluster.spec<...,
    //   collectives = [<ring, #cluster.affine<a = 0.5, b = 0.0>>]>
    sync.trace @net {
      sync.layer "fc" bytes 30 forward 3.0 backward 3.0
    }
    // After, before the same trace
    sync.problem @merge layers ["fc"] bytes [30] ready <[6.0]>
      merge_classes [#sync.merge_class<[
        <ring, cost = #cluster.affine<a = 0.5, b = 0.0>, traffic = 3.0>]>]
      forward_end 3.0 backward_end 6.0 updates 0.0
    ```
  }];
  let options = [
    ListOption<"requested", "requested", "std::string",
               "schemes requested by name, LAYERS=SCHEME with a pattern of layers, e.g. "
               "fc*=factors; the last that matches counts">,
    Option<"overlap", "overlap", "std::string", "\"backward\"",
           "behind what messages may hide: backward, or step for the next forward pass too">,
    Option<"consistency", "consistency", "std::string", "\"bsp\"",
           "who waits for whom, as sync::parseConsistency reads it">,
  ];
  let dependentDialects = ["::syncline::sync::SyncDialect"];
}

def SolveMerge : Pass<"solve-merge", "::mlir::ModuleOp"> {
  let summary = "solves every problem by a planner";
  let description = [{
    Planners know one channel. With `channels` above 1 their messages take turns on so many: message
    i travels on channel i mod channels. Times, bound and certificate stay those of one channel.

    Ensures: behind every `sync.problem` a `sync.solution` that the checker accepts, with the
    certificate that proves its bound.
    Fails: on an invalid problem; where the planner's rule has no answer.
  }];
  let options = [
    Option<"planner", "planner", "std::string", "\"optimal\"",
           "planner, as of compile's --planner; z3:messages=N is the driver's alone">,
    Option<"channels", "channels", "int", "1",
           "channels on which successive messages take turns, 1 to 8">,
  ];
  let dependentDialects = ["::syncline::sync::SyncDialect"];
}

def FormBuckets : Pass<"form-buckets", "::mlir::ModuleOp"> {
  let summary = "carries a solution out: each of its messages becomes one collective";
  let description = [{
    A message by factors is an algebraic rewrite: the sum over ranks of a product over samples is
    the product of the gathered factors, and the sum of a factor over samples, a bias's gradient,
    is the sum of the gathered factor. What was computed of this rank's samples alone is gone.

    Assumes: `insert-gradients` has run and a solution stands in the module; where it sends factors,
    `cluster.spec` too. Ensures: no `sync.gradient` is left; messages, what is computed from
    gathered factors, and updates stand last in the step. A module with a trace is left as it is.
    Fails: on a solution that leaves out gradients, or sends as factors what has none.

    ```mlir
    %0 = sync.gradient %a "a" : ...   // before
    %1 = sync.gradient %b "b" : ...
    %0, %1 = sync.all_reduce %a, %b {members = ["a", "b"], bucket = 0, ...} : ...   // after

    // before
    %dw = nn.matmul %dy, %x {transpose_a} : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    %2 = sync.gradient %dw "w" : ...
    // after, with four ranks
    %dys, %xs = sync.all_gather %dy, %x {members = ["w"], bucket = 1, ...} : ...
    %2 = nn.matmul %dys, %xs {transpose_a}
        : (tensor<32x2xf32>, tensor<32x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::syncline::sync::SyncDialect"];
}

def CheckSolutions : Pass<"check-solutions", "::mlir::ModuleOp"> {
  let summary = "judges claimed solutions and certificates";
  let description = [{
    Rejects a solution that is no plan for its problem and a certificate that does not prove its
    bound, each with the numbered reason of passes/proof/README.md. Shares no code with the solvers;
    runs in release builds. Beside a cluster, problem and solution are the only ones, and the
    problem's costs are those of the cluster (S14, S15).
  }];
}

def LowerToPlan : Pass<"lower-to-plan", "::mlir::ModuleOp"> {
  let summary = "decides order and memory: the step becomes a plan";
  let description = [{
    Forward and backward keep their order; a bucket is issued right after the operation that
    completes it and after the buckets before it on its channel; waits, what is computed from
    gathered factors, and updates stand at the end in bucket order. Gradients are written straight
    into their bucket, parameters lie as their gradients do, everything else is laid over by
    lifetime (passes/lower/README.md). With `overlap=step`, wait, computation and update of a bucket
    stand before the first operation of the forward phase that reads one of its parameters, and
    concern the message of the step before. With `clip-norm` the program has `clip_norm`, by which
    all updates follow the last message (P32). With `accumulate` it has `accumulate`: a step has so
    many micro-batches (P36).

    Assumes: a `cluster.spec` on the module; every update takes the result of a `sync.all_reduce` or
    what is computed from a `sync.all_gather`; elementwise operations are fused.
    Ensures: a `plan.program` that `check-plan` accepts in place of each `nn.step`; problems and
    solutions stay. A module with a trace is left as it is.
    Fails: on a parameter without an update, a message that does not name its parameters, an
    operation without a kernel, an element type that plans do not know, an output that is computed
    by no operation.

    ```mlir
    // Before
    nn.step @mlp batch 4 {
      %x = nn.input "x" : tensor<4x8xf32>
      ...
    }
    // After
    plan.program @mlp ranks 2 batch 4 spaces {arena = 192 : i64, ...} {
      %0 = plan.tensor "x" in input at 0 reserve 128 : memref<4x8xf32>
      ...
      plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
      plan.phase forward
      plan.call matmul "fc" ["a", "b", "y"] ins(%0, %2 : ...) outs(%4 : ...) {transpose_b}
      ...
      plan.issue 0
      plan.phase update
      plan.wait 0
      plan.update 0
    }
    ```
  }];
  let options = [
    Option<"overlap", "overlap", "std::string", "\"backward\"",
           "what messages may hide behind: 'backward', or 'step' for the next forward pass too">,
    Option<"clipNorm", "clip-norm", "double", "0",
           "the norm to which the program clips gradients; 0: it does not clip">,
    Option<"accumulate", "accumulate", "int64_t", "1",
           "the batches whose gradients a step of the program adds up">,
  ];
  let dependentDialects = ["::syncline::plan::PlanDialect"];
}

def PlanExchanges : Pass<"plan-exchanges", "::mlir::ModuleOp"> {
  let summary = "decides which weights travel when, and how, where gradients do not";
  let description = [{
    Cuts the parameters, in the order of their places, into as many fragments of nearly equal size
    as the problem's `consistency` says. Each fragment travels by the all-reduce that is fastest for
    its bytes on the cluster (the tree for EASGD), or by the one that `requested` gives all of its
    gradients. A form that travels by servers has one fragment, and a shard of the weights for each
    server: the cluster's, or one beside every rank. A problem without `consistency` changes
    nothing.

    Assumes: a `cluster.spec`, a problem, and a `plan.program`. Ensures: the program has the
    problem's consistency, and one `plan.exchange` a fragment behind its buckets. Fails: where NCCL
    carries the messages, on fewer parameters than fragments, on a scheme that cannot carry the form
    or that only some gradients of a fragment have, on a fragment or shard beyond the cluster's
    largest message, on weights beyond the servers' memory or with less than 64 bytes a server.

    ```mlir
    // Before, beside a problem with consistency #sync.consistency<local, period = 4>
    plan.program @mlp ranks 2 batch 4 spaces {parameters = 64 : i64, ...} {
      plan.bucket 0 members ["w"] ...
    // After
    plan.program @mlp ranks 2 batch 4 spaces {parameters = 64 : i64, ...} attributes
        {consistency = #sync.consistency<local, period = 4>} {
      plan.bucket 0 members ["w"] ...
      plan.exchange 0 members ["w"] by ring at 0 extent 64 bytes 64 start 4 wait 4
        seconds 1.0e-3 traffic 128.0
    ```
  }];
  let options = [
    ListOption<"requested", "requested", "std::string",
               "schemes requested by name, LAYERS=SCHEME; the last that matches counts">,
  ];
  let dependentDialects = ["::syncline::plan::PlanDialect"];
}

def PredictTimes : Pass<"predict-times", "::mlir::ModuleOp"> {
  let summary = "simulates steps and writes the prediction of their times";
  let description = [{
    The planner's model assumes undisturbed computation, updates to come last, and the gradients
    of layers that go by factors to be computed in the backward pass too. What a plan does is its
    program: one step of it is run in virtual time, on the plan's own cluster without jitter
    (passes/simulate/README.md), with the message that sums the loss, and what that says becomes a
    `sync.prediction`. With `cluster.scatter` times are the
    means of steps that scatter so. Of a trace, layers are run as the solution has them. Where ranks
    differ, the latest counts.

    Assumes: a problem, its solution and a `cluster.spec`; a program or a trace. Ensures: one
    `sync.prediction` behind the solution, which stays as it is. Time and memory are bounded: beyond
    two million tasks and operations messages take their cost, one rank as slow as the slowest
    stands for all. Fails: where the program is none of the solution's, or a message can travel by
    none of the cluster's links.

    ```mlir
    // before
    sync.solution of @merge by "optimal" messages [#sync.message<layers = [0], ...>] ...
    // after, behind it
    sync.prediction of @merge ready <[3.0]> start <[3.0]> end <[5.0]>
      reconstructed <[5.0]> exposed <[2.0]>
      forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 5.0
      updates 0.5 step 5.5
    ```
  }];
  let dependentDialects = ["::syncline::sync::SyncDialect"];
}

def CheckPlan : Pass<"check-plan", "::mlir::ModuleOp"> {
  let summary = "rejects a plan that breaks a rule of ir/plan/SPEC.md";
  let description = [{
    Rules P5, P7 to P20, P22 to P24, P29 to P32, each with its number and a note at the other
    place. Computes lifetimes and order anew from the program's text: shares no code with lowering.
    Runs in release builds.
  }];
}

def CheckRunnable : Pass<"check-runnable", "::mlir::ModuleOp"> {
  let summary = "rejects a plan that a run would refuse, or begin with wrong values";
  let description = [{
    Rules P25 to P28: samples, sizes of spaces, initial values, operands. A program may be valid
    without them (a part of one, to try a pass on); one that `run` takes may not. Runs in release
    builds.

    Assumes: `check-plan` has accepted the program.
  }];
  let dependentDialects = ["::syncline::nn::NNDialect"];
}

def Barrier : Pass<"barrier"> {
  let summary = "closes a phase: refuses operations that it should have removed";
  let description = [{
    Fails at the first operation, at any depth, whose name is listed. Changes nothing.
  }];
  let options = [
    Option<"phase", "phase", "std::string", "\"\"", "the phase that ends here, for the message">,
    ListOption<"illegal", "illegal", "std::string",
           "names of operations that may not be left, e.g. nn.unary">,
  ];
}

#endif
