// The pass `predict-times` runs a step in virtual time and writes down what it takes.
// RUN: syncline-opt --predict-times --split-input-file %patched | FileCheck %s

// Base: The first bucket is updated while the second still travels: the step ends half a second before the planner's 7 s.
// CHECK: sync.solution {{.*}} finish 6.0
// CHECK-NEXT: sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.5]> forward_end 1.000000e+00 backward_end 3.000000e+00 communication_end 6.000000e+00 reconstruction_end 6.000000e+00 updates 1.000000e+00 step 6.500000e+00
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

// Operations name buckets by number, in whatever order those are declared: the message of 2 s is the first.
// CHECK: sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 5.0]> reconstructed <[4.0, 5.0]>
change collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>] => collectives = [<ring, #cluster.affine<a = 0.0, b = 0.03125>>]
change sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0> => sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.03125>
change bytes [64, 64] => bytes [64, 32]
change layers = [1] | bytes = 64 => bytes = 32
change end = 6.0>] finish 6.0 => end = 5.0>] finish 5.0
change "v" in parameters | memref<4x4xf32> => memref<4x2xf32>
change "v" in gradients | memref<4x4xf32> => memref<4x2xf32>
before "h" in arena | %y = plan.tensor "y" in target at 0 reserve 64 : memref<4x2xf32>
change plan.bucket 1 | bytes 64 => bytes 32
move plan.bucket 1 | before plan.bucket 0
change matmul "dv" | ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) => ins(%h, %y : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)

// -----

// One node is half as fast as the other, for which operations are timed: the others wait for it, so that waiting counts on that node alone.
// CHECK: sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.5]> forward_end 1.000000e+00 backward_end 3.000000e+00 communication_end 6.000000e+00 reconstruction_end 6.000000e+00 updates 1.000000e+00 step 6.500000e+00
change <ring, #cluster.affine<a = 2.0, b = 0.0>>] => <ring, #cluster.affine<a = 2.0, b = 0.0>>], overrides = [<nodes = [0], slowdown = 2.0>]

// -----

// With `accumulate` the step has all its micro-batches; messages have the times of the last one. A
// step of one micro-batch takes 6.5 s. Three before it compute for 3 s and add up each gradient in
// three fifths of its update, which no plan does faster. One device alone updates once, too.
// CHECK: sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.5]>
// CHECK-SAME: forward_end 1.000000e+00 backward_end 3.000000e+00
// CHECK-SAME: step {{(1.73[0-9]*e|17.[23])}}
// CHECK-SAME: {alone = {{(1.4[78][0-9]*e|14.[78])[^ ]*}} : f64, least_micro_batch = 3.{{[56][0-9e+]*}} : f64, micro_batch = 3.{{[56][0-9e+]*}} : f64}
change arena = 384 : i64} => arena = 384 : i64} attributes {accumulate = 4 : i64}

// -----

// With `clip_norm` all updates follow the last message, and what it costs is written down.
// Squares take a fifth of SGD's update: 0.1 s behind each message, the first under the second. Then
// come both updates. Without clipping the first bucket is updated under the second message. A
// micro-batch that is not the last computes for 3 s and adds up each gradient in three fifths of its
// update, as above.
// CHECK: sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.9{{[0-9]*}}]>
// CHECK-SAME: reconstruction_end 6.000000e+00 updates 1.000000e+00 step 7.1
// CHECK-SAME: {alone = 4.2{{[0-9e+]*}} : f64, micro_batch = 3.{{[56][0-9e+]*}} : f64, unclipped = 6.5{{[0-9e+]*}} : f64}
change arena = 384 : i64} => arena = 384 : i64} attributes {clip_norm = 1.0 : f64}

// -----

// What is gathered is multiplied after the backward pass alone, and hides the message behind. The loss of the step before has the channel for the first 2 s.
// CHECK: sync.prediction of @merge ready <[1.0, 3.0]> start <[2.0, 3.0]> end <[3.0, 5.0]> reconstructed <[5.0, 5.0]> exposed <[0.0, 0.0]> forward_end 1.000000e+00 backward_end 3.000000e+00 communication_end 5.000000e+00 reconstruction_end 5.000000e+00 updates 0.000000e+00 step 5.000000e+00
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>, <factors, #cluster.affine<a = 1.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[1.0, 4.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 1.0, traffic = 256.0, factorBytes = 128>]
    forward_end 1.0 backward_end 4.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 1.0, start = 1.0, end = 2.0, reconstructed = 5.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 4.0, start = 4.0, end = 6.0>] finish 6.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [0, 9] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [0, 9] : memref<8x4xf32>
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
    plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.update 0
    plan.wait 1
    plan.update 1
  }
}

// -----

// A trace is run layer by layer, as its solution has it; an old prediction is replaced.
// CHECK: sync.prediction of @merge ready <[4.0]> start <[4.0]> end <[6.0]> reconstructed <[6.0]> exposed <[1.0]> forward_end 2.000000e+00 backward_end 5.000000e+00 communication_end 6.000000e+00 reconstruction_end 6.000000e+00 updates 0.000000e+00 step 6.000000e+00
// CHECK-NOT: sync.prediction
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.trace @net {
    sync.layer "conv" bytes 0 forward 1.0 backward 1.0
    sync.layer "fc" bytes 64 forward 1.0 backward 2.0
  }
  sync.problem @merge layers ["fc"] bytes [64] ready <[4.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 4.0, start = 4.0, end = 6.0>]
    finish 6.0 bound 0.0
  sync.prediction of @merge ready <[]> start <[]> end <[]> reconstructed <[]> exposed <[]>
    forward_end 0.0 backward_end 0.0 communication_end 0.0 reconstruction_end 0.0 updates 0.0 step 0.0
}
