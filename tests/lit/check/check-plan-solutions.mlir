// Programs that carry out the solution beside them.
// RUN: syncline-opt --predict-times --check-plan --split-input-file %patched | FileCheck %s

// A sum of gradients.
// CHECK: plan.issue 0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] requested ["w=ring"] forward_end 1.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
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
    plan.update 0
  }
}

// -----

// A bucket by factors: the problem has the product of one rank's samples in the backward pass.
// CHECK: plan.gather 0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 2.0, traffic = 256.0, factorBytes = 128>] requested ["v=ring"]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 3.0, start = 3.0, end = 4.0, reconstructed = 7.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
    plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.issue 1
    plan.phase update
    plan.wait 0
    plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 4.0 : f64, transpose_a}
    plan.update 0
    plan.wait 1
    plan.update 1
  }
}

// -----

// Base: A product that could travel by factors, and a bias that could ride.
// CHECK: plan.issue 0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  sync.problem @merge layers ["w", "b"] bytes [64, 16] ready <[3.0, 3.5]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 129.0, reconstruct = 2.5, traffic = 256.0, factorBytes = 128>] piggybacks [1, 0]
    forward_end 1.0 backward_end 3.5 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 80, ready = 3.5, start = 3.5, end = 5.5>]
    finish 5.5 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %b = plan.tensor "b" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %db = plan.tensor "b" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
    plan.bucket 0 members ["w", "b"] by ring channel 0 at 0 extent 128 bytes 80
    plan.phase forward
    plan.call matmul "h" ["a", "b", "bias", "y"] ins(%x, %w, %b : memref<4x4xf32>, memref<4x4xf32>, memref<4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.call reduce "db" ["x", "y"] ins(%h : memref<4x4xf32>) outs(%db : memref<4xf32>) {axes = array<i64: 0>, kind = #nn<reduction sum>, seconds = 0.5 : f64}
    plan.issue 0
    plan.phase update
    plan.wait 0
    plan.update 0
  }
}

// -----

// Valid: The layer that reads both was requested.
// CHECK: plan.issue 0
drop factor_options
before forward_end 1.0 | requested ["h=ring"]
