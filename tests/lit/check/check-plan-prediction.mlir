// Predictions that are what virtual time says.
// RUN: syncline-opt --check-plan --split-input-file %s | FileCheck %s

// The prediction of a program, whose message costs what the cluster states.
// CHECK: plan.issue 0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.5
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  sync.prediction of @merge ready <[3.0]> start <[3.0]> end <[5.0]> reconstructed <[5.0]> exposed <[2.0]>
    forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 5.0 updates 0.5 step 5.5
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.issue 0
    plan.phase update
    plan.wait 0
    plan.update 0 {seconds = 0.5 : f64}
  }
}

// -----

// The prediction of a trace.
// CHECK: sync.prediction
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.trace @net {
    sync.layer "fc" bytes 64 forward 1.0 backward 2.0
  }
  sync.problem @merge layers ["fc"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  sync.prediction of @merge ready <[3.0]> start <[3.0]> end <[5.0]> reconstructed <[5.0]> exposed <[2.0]>
    forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 5.0 updates 0.0 step 5.0
}
