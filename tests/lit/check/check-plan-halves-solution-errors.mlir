// Programs whose halves are not those of the solution beside them: P19.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Two buckets travel in halves.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["v", "w"] bytes [64, 64] ready <[3.0, 3.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.0 tails <[1.0, 1.0]> own_updates <[0.0, 0.0]>
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 64, gather = <place = 2, start = 4.0, end = 5.0>, ready = 2.0, start = 2.0, end = 3.0>,
    #sync.message<layers = [1], scheme = "reduce-scatter", merge_class = 0, bytes = 64, gather = <place = 3, start = 5.0, end = 6.0>, ready = 2.0, start = 3.0, end = 4.0>]
    finish 7.0 bound 0.0
  sync.prediction of @merge ready <[7.0, 7.0, 7.0, 7.0]> start <[7.0, 8.0, 9.0, 10.0]> end <[8.0, 9.0, 10.0, 11.0]> reconstructed <[8.0, 9.0, 10.0, 11.0]> exposed <[1.0, 0.0, 2.0, 1.0]>
    forward_end 5.0 backward_end 7.0 communication_end 11.0 reconstruction_end 11.0 updates 0.0 step 7.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 64 : i64} attributes {overlap = "step"} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [2, 5] : memref<4x4xf32>
    plan.bucket 0 members ["v"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64 {halved}
    plan.bucket 1 members ["w"] by "reduce-scatter" channel 0 at 64 extent 64 bytes 64 {halved}
    plan.phase update
    plan.wait 0
    plan.wait 1
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%v, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.issue 0
    plan.issue 1
    plan.all_gather 0
    plan.all_gather 1
  }
}

// -----

// A bucket in halves whose message is one.
drop #sync.message<layers = [1] | gather = <place = 3, start = 5.0, end = 6.0>,
error plan.bucket 1 | P19: expected a bucket that is one message
note sync.solution | as the solution says

// -----

// A message in halves whose bucket is one.
drop plan.all_gather 0
change place = 2 => place = 3
change place = 3, start = 5.0, end = 6.0 => place = 2, start = 4.0, end = 5.0
drop plan.bucket 0 | {halved}
error P19: expected a bucket in halves
note sync.solution | as the solution says

// -----

// All-gathers in another order than the planned one.
change place = 2 => place = 3
change place = 3, start = 5.0, end = 6.0 => place = 2, start = 4.0, end = 5.0
error plan.all_gather 0 | P19: expected the all-gather of bucket 1 here
note sync.solution | as the solution says
