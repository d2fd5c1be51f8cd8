// Predictions that are not what virtual time says of the program or trace beside them: P22.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: What virtual time says of a program.
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

// No prediction.
drop sync.prediction
drop communication_end
error sync.problem | P22: expected one prediction beside it

// -----

// Two predictions.
before plan.program | sync.prediction of @merge ready <[3.0]> start <[3.0]> end <[5.0]> reconstructed <[5.0]> exposed <[2.0]>
before plan.program | forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 5.0 updates 0.5 step 5.5
error sync.problem | P22: expected one prediction beside it

// -----

// A prediction of another problem.
change sync.prediction of @merge => sync.prediction of @other
error P22: expected a prediction of 'merge', got one of 'other'

// -----

// A prediction that has no times of messages.
change @merge ready <[3.0]> => @merge ready <[]>
change start <[3.0]> => start <[]>
change end <[5.0]> => end <[]>
change reconstructed <[5.0]> => reconstructed <[]>
change exposed <[2.0]> => exposed <[]>
error P22: expected times of 1 messages, got 0

// -----

// A message that is at hand before its gradient exists.
change @merge ready <[3.0]> => @merge ready <[2.0]>
error P22: expected that message 0 is ready at 3.000000e+00 s as in virtual time, got 2.000000e+00 s

// -----

// A message that starts late.
change start <[3.0]> => start <[4.0]>
error P22: expected that message 0 starts at 3.000000e+00 s as in virtual time, got 4.000000e+00 s

// -----

// A message that is faster than its links.
change end <[5.0]> => end <[4.0]>
error P22: expected that message 0 ends at 5.000000e+00 s as in virtual time, got 4.000000e+00 s

// -----

// A gradient that is not there when its message ends.
change reconstructed <[5.0]> => reconstructed <[5.25]>
error P22: expected that message 0 is reconstructed at 5.000000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// A wait that is left out.
change exposed <[2.0]> => exposed <[1.0]>
error P22: expected that message 0 is exposed for 2.000000e+00 s as in virtual time, got 1.000000e+00 s

// -----

// A forward pass that is too short.
change communication_end | forward_end 1.0 => forward_end 0.5
error sync.prediction | P22: expected the forward pass to end at 1.000000e+00 s as in virtual time, got 5.000000e-01 s

// -----

// A backward pass that is too long.
change communication_end | backward_end 3.0 => backward_end 3.5
error sync.prediction | P22: expected the backward pass to end at 3.000000e+00 s as in virtual time, got 3.500000e+00 s

// -----

// Communication that ends early.
change communication_end 5.0 => communication_end 4.0
error sync.prediction | P22: expected communication to end at 5.000000e+00 s as in virtual time, got 4.000000e+00 s

// -----

// Reconstruction where nothing is reconstructed.
change reconstruction_end 5.0 => reconstruction_end 5.25
error sync.prediction | P22: expected reconstruction to end at 5.000000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// Updates that are forgotten.
change communication_end | updates 0.5 => updates 0.0
error sync.prediction | P22: expected updates to take 5.000000e-01 s as in virtual time, got 0.000000e+00 s

// -----

// A step that is too short.
change step 5.5 => step 5.25
error sync.prediction | P22: expected the step to end at 5.500000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// Valid: One device by itself takes its passes and all updates.
change step 5.5 => step 5.5 {alone = 3.5 : f64}

// -----

// One device by itself that takes less.
change step 5.5 => step 5.5 {alone = 3.0 : f64}
error sync.prediction | P22: expected one device by itself to take 3.500000e+00 s as in virtual time, got 3.000000e+00 s

// -----

// What one device by itself takes is no f64.
change step 5.5 => step 5.5 {alone = 3 : i64}
error attribute 'alone' failed to satisfy constraint: 64-bit float attribute

// -----

// Base: Steps that were recorded, all alike.
change launchOverhead | = 2.0, b = 0.0>>]>} => = 2.0, b = 0.0>>]>, cluster.scatter = [[1.0], [1.0]]}

// -----

// Valid: Drawn steps that are all alike.
change step 5.5 => step 5.5 {sync.disturbed = [{crosses = false, high = 5.5 : f64, low = 5.5 : f64, mean = 5.5 : f64, planner = "me"}]}

// -----

// Drawn steps that are too short.
change step 5.5 => step 5.5 {sync.disturbed = [{crosses = false, high = 5.5 : f64, low = 5.5 : f64, mean = 5.25 : f64, planner = "me"}]}
error sync.prediction | P22k: expected 'mean' 5.500000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// A quantile that is too short.
change step 5.5 => step 5.5 {sync.disturbed = [{crosses = false, high = 5.5 : f64, low = 5.25 : f64, mean = 5.5 : f64, planner = "me"}]}
error sync.prediction | P22k: expected 'low' 5.500000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// Drawn steps of another plan.
change step 5.5 => step 5.5 {sync.disturbed = [{crosses = false, high = 5.5 : f64, low = 5.5 : f64, mean = 5.5 : f64, planner = "you"}]}
error sync.prediction | P22k: expected the plan itself first

// -----

// Valid: Computation that takes half as long, or half as long again. In the first case the loss,
// which takes 2 s from the beginning of the step, holds the message up.
change step 5.5 => step 5.5 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.4117647058823529 : f64, exposed = 2.5 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 4.25 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.7241379310344828 : f64, exposed = 2.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 7.25 : f64}}}

// -----

// A step that is too short at one end.
change step 5.5 => step 5.5 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.4117647058823529 : f64, exposed = 2.5 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 4.25 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.7241379310344828 : f64, exposed = 2.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 7.0 : f64}}}
error sync.prediction | P22l: expected 'step' 7.250000e+00 at the end 'slow' as in virtual time, got 7.000000e+00

// -----

// Base: What virtual time says of a trace.
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

// -----

// A wrong prediction of a trace.
change step 5.0 => step 5.25
error sync.prediction | P22: expected the step to end at 5.000000e+00 s as in virtual time, got 5.250000e+00 s

// -----

// A prediction of an invalid solution.
change end = 5.0 => end = 4.0
error sync.prediction | P22: nothing to compare with: J11: message 1: expected its end at 5 s, got 4 s
