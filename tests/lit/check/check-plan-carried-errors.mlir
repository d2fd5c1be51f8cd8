// Plans that break a rule about messages that the next step waits for, where sums travel: P1, P5,
// P11, P17, P29.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: The next step waits for the message of this one.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} attributes {overlap = "step"} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
  plan.phase update
  plan.wait 0
  plan.update 0
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
}

// -----

// P1: the only other overlap is that of today, which is not named.
change "step" => "never"
error P1: expected overlap 'step', or none named, got 'never'

// -----

// P11: without overlap = "step" a wait is for the message of its own step.
drop plan.program | attributes {overlap = "step"}
error plan.wait 0 | P11: waits for bucket 0 before it is issued
note plan.issue 0 | issued here

// -----

// P11: the update uses the gradients that have arrived, not those of this step.
move plan.update 0 | after plan.issue 0
before plan.update 0 | plan.phase update
error plan.update 0 | P11: updates bucket 0, of the step before, after it is issued again
note plan.issue 0 | issued here

// -----

// P11: a bucket that is never waited for starves the update.
drop plan.wait 0
error plan.bucket 0 | P11: bucket 0 is never waited for

// -----

// P5: until the update the parameters are those of the step before.
move plan.phase forward | after plan.bucket 0
move matmul "y" | after plan.phase forward
error P5: reads parameter 'w' before its update by the message of the step before
note plan.update 0 | updated here

// -----

// P5: at the step's beginning the message of the step before is in flight.
before plan.phase update | plan.phase forward
before plan.phase update | plan.call reshape "r" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
error P5: touches 'w' while bucket 0 is in flight
note plan.issue 0 | issued here

// -----

// P5: the message is in flight until the step's end.
after plan.issue 0 | plan.call reshape "r" ["x", "y"] ins(%dw : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P5: touches 'w' while bucket 0 is in flight
note plan.issue 0 | issued here

// -----

// P17: until the wait the message of the step before writes the parameters.
drop plan.update 0
change plan.bucket 0 | ring => "reduce-scatter"
move plan.phase update | after matmul "y"
move plan.wait 0 | after plan.phase update
error matmul "y" | P17: reads parameter 'w', which the message of bucket 0 changes
note plan.issue 0 | issued here

// -----

// P29: evaluation runs the forward phase alone.
drop plan.phase update
move plan.phase forward | after plan.bucket 0
error plan.wait 0 | P29: stands between wait and update of bucket 0, which is carried over the step's end; only what computes its gradients in the update phase may
note plan.wait 0 | waited for here

// -----

// P29: the first step leaves out all that follows the wait, so the forward pass cannot be there.
before plan.update 0 | plan.phase forward
before plan.update 0 | plan.call reshape "r" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
before plan.update 0 | plan.phase update
error reshape "r" | P29: stands between wait and update of bucket 0, which is carried over the step's end; only what computes its gradients in the update phase may
note plan.wait 0 | waited for here

// -----

// P29: nor anything that computes from this step.
after plan.wait 0 | plan.call reshape "r" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P29: reads 'x', which bucket 0 of the step before did not bring
note plan.wait 0 | waited for here
