// Steps of several micro-batches where they cannot be, and predictions of them: P22, P36.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: A step of four micro-batches.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} attributes {accumulate = 4 : i64} {
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

// -----

// P36a: a step of one micro-batch says nothing of micro-batches.
change accumulate = 4 => accumulate = 1
error P36: expected 'accumulate' from 2 to 1000000, got 1

// -----

// P36a: it is an i64.
change accumulate = 4 : i64 => accumulate = 4 : i32
error attribute 'accumulate' failed to satisfy constraint: 64-bit signless integer attribute

// -----

// P36b: each rank's own gradients are summed for its own update.
change accumulate = 4 : i64 => accumulate = 4 : i64, consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>
error P36: expected no consistency with 'accumulate', which is for gradients that travel

// -----

// Base: What virtual time says of such a step.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[2.0, 3.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    forward_end 1.0 backward_end 3.0 updates 1.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 2.0, start = 2.0, end = 4.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 4.0, end = 6.0>] finish 6.0 bound 0.0
  sync.prediction of @merge ready <[2.0, 3.0]> start <[2.0, 4.0]> end <[4.0, 6.0]> reconstructed <[4.0, 6.0]> exposed <[1.0, 1.5]>
    forward_end 1.0 backward_end 3.0 communication_end 6.0 reconstruction_end 6.0 updates 1.0 step 17.3 {least_micro_batch = 3.6 : f64, micro_batch = 3.6 : f64}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} attributes {accumulate = 4 : i64} {
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
change {least_micro_batch = 3.6 => {alone = 14.8 : f64, least_micro_batch = 3.6

// -----

// P22g: the step has four micro-batches.
change step 17.3 => step 6.5
error sync.prediction | P22: expected the step to end at 1.730000e+01 s as in virtual time, got 6.500000e+00 s

// -----

// P22g: what a micro-batch takes is there.
change {least_micro_batch = 3.6 : f64, micro_batch = 3.6 : f64} => {least_micro_batch = 3.6 : f64}
error sync.prediction | P22: expected 'micro_batch' beside a program with 'accumulate'

// -----

// P22i: what it takes at least is there.
change {least_micro_batch = 3.6 : f64, micro_batch = 3.6 : f64} => {micro_batch = 3.6 : f64}
error sync.prediction | P22: expected 'least_micro_batch' beside a program with 'accumulate'

// -----

// P22i: the problem says what it takes at least.
change least_micro_batch = 3.6 => least_micro_batch = 3.0
error sync.prediction | P22: expected a micro-batch of any plan to take at least 3.600000e+00 s as in virtual time, got 3.000000e+00 s

// -----

// P22i: this is not there where a step has one micro-batch.
change step 17.3 => step 6.5
drop plan.program | attributes {accumulate = 4 : i64}
error sync.prediction | P22: expected no 'least_micro_batch' beside a program without 'accumulate'

// -----

// P22j: only steps of several micro-batches are compared with those that gather in each.
change step 17.3 {least_micro_batch = 3.6 : f64, micro_batch = 3.6 : f64} => step 6.5 {gathering = 9.0 : f64, micro_batch = 3.6 : f64}
drop plan.program | attributes {accumulate = 4 : i64}
error sync.prediction | P22: expected no 'gathering' beside a program without 'accumulate'

// -----

// P22j: it is an f64.
change {least_micro_batch = 3.6 => {gathering = 9 : i64, least_micro_batch = 3.6
error attribute 'gathering' failed to satisfy constraint: 64-bit float attribute
