// Plans that clip gradients where they cannot, predictions of clipping and micro-batches: P22, P32.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: A step that clips its gradients.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} attributes {clip_norm = 1.0 : f64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P32a: no gradient has a norm of at most 0.
change clip_norm = 1.0 => clip_norm = 0.0
error P32: expected 'clip_norm' from 1e-30 to 1e30, got 0.000000e+00

// -----

// P32a: it is an f64.
change clip_norm = 1.0 : f64 => clip_norm = 1.0 : f32
error attribute 'clip_norm' failed to satisfy constraint: 64-bit float attribute

// -----

// P32b: a message that the next step waits for has no norm in this one.
change clip_norm = 1.0 : f64 => clip_norm = 1.0 : f64, overlap = "step"
error P32: expected no overlap with 'clip_norm', whose updates follow the last message

// -----

// P32b: each rank's own gradients have norms of their own.
change clip_norm = 1.0 : f64 => clip_norm = 1.0 : f64, consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>
error P32: expected no consistency with 'clip_norm', which is for gradients that travel

// -----

// Base: What virtual time says of such a step.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[2.0, 3.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    forward_end 1.0 backward_end 3.0 updates 1.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 2.0, start = 2.0, end = 4.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 4.0, end = 6.0>] finish 6.0 bound 0.0
  sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.9]>
    forward_end 1.0 backward_end 3.0 communication_end 6.0 reconstruction_end 6.0 updates 1.0 step 7.1 {micro_batch = 3.6 : f64, unclipped = 6.5 : f64}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} attributes {clip_norm = 1.0 : f64} {
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

// Valid: It may say what one device by itself takes.
change {micro_batch = 3.6 => {alone = 4.2 : f64, micro_batch = 3.6

// -----

// P22b: updates follow the last message.
change step 7.1 => step 6.5
change exposed <[1.0, 1.9]> => exposed <[1.0, 1.5]>
error P22: expected that message 1 is exposed for 1.900000e+00 s as in virtual time, got 1.500000e+00 s

// -----

// P22f: what clipping costs is there.
change {micro_batch = 3.6 : f64, unclipped = 6.5 : f64} => {micro_batch = 3.6 : f64}
error sync.prediction | P22: expected 'unclipped' beside a program with 'clip_norm'

// -----

// P22f: what clipping costs is as virtual time says.
change unclipped = 6.5 => unclipped = 7.0
error sync.prediction | P22: expected the step to take without clipping 6.500000e+00 s as in virtual time, got 7.000000e+00 s

// -----

// P22f: without clipping it is not there.
change step 7.1 => step 6.5
drop plan.program | attributes {clip_norm = 1.0 : f64}
change exposed <[1.0, 1.9]> => exposed <[1.0, 1.5]>
error P22: expected no 'unclipped' beside a program without 'clip_norm'

// -----

// P22g: a micro-batch that is not the last one.
change step 7.1 {micro_batch = 3.6 : f64, unclipped = 6.5 : f64} => step 6.5 {micro_batch = 3.0 : f64}
drop plan.program | attributes {clip_norm = 1.0 : f64}
change exposed <[1.0, 1.9]> => exposed <[1.0, 1.5]>
error P22: expected a micro-batch to take 3.600000e+00 s as in virtual time, got 3.000000e+00 s
