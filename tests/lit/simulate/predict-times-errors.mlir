// What cannot be run in virtual time.
// RUN: syncline-opt --predict-times --split-input-file --verify-diagnostics %patched

// Nothing to run.
// expected-error @+1 {{cannot be simulated: expected a problem, its solution and a cluster}}
module {
}

// -----

// A solution that is none of the problem.
// expected-error @+1 {{cannot be simulated: J11: message 1: expected its end at 6 s, got 5 s}}
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["fc"] bytes [64] ready <[4.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 4.0, start = 4.0, end = 5.0>]
    finish 5.0 bound 0.0
}

// -----

// Base: A program of two messages.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[2.0, 3.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    forward_end 1.0 backward_end 3.0 updates 1.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 2.0, start = 2.0, end = 4.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 4.0, end = 6.0>] finish 6.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 1.0 : f64, transpose_a}
    plan.issue 0
    plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) {seconds = 1.0 : f64, transpose_a}
    plan.issue 1
    plan.phase update
    plan.wait 0
    plan.update 0 {seconds = 0.5 : f64}
    plan.wait 1
    plan.update 1 {seconds = 0.5 : f64}
  }
}

// -----

// A program that never waits for its second message.
drop plan.wait 1
drop plan.update 1
error module | cannot be simulated: scenario: message 1 is not issued and waited for

// -----

// A program that issues a bucket which it does not declare: another has that place.
change plan.bucket 1 => plan.bucket 7
error module | cannot be simulated: the program uses bucket 1, which it does not declare

// -----

// A program that waits for a bucket which it does not declare.
change plan.wait 1 => plan.wait 255
error module | cannot be simulated: the program uses bucket 255, which it does not declare

// -----

// A program that gathers a bucket which is not in halves.
change plan.wait 1 => plan.all_gather 1
error module | cannot be simulated: the program gathers bucket 1, which is not in halves
