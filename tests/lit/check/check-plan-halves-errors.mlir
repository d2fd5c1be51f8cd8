// Plans that break a rule about buckets in halves: P5, P11, P17, P18, P30.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: A bucket travels in halves, and the next step waits for both.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} attributes {overlap = "step"} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64 {halved}
  plan.phase update
  plan.wait 0
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.all_gather 0
}

// -----

// P30a: a message along a tree is one message.
change plan.bucket 0 | "reduce-scatter" => tree
after plan.wait 0 | plan.update 0
error plan.all_gather 0 | P30: gathers bucket 0, which travels by 'tree' and not in halves
note plan.bucket 0 | declared here

// -----

// P5: no operation touches the gradients of a ring in halves until the wait for both.
change plan.bucket 0 | "reduce-scatter" => ring
after plan.wait 0 | plan.update 0
after plan.all_gather 0 | plan.call matmul "y" ["a", "b", "y"] ins(%x, %dw : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P5: touches 'w' while bucket 0 is in flight
note plan.issue 0 | issued here

// -----

// P11b: a ring in halves updates no parameters itself.
change plan.bucket 0 | "reduce-scatter" => ring
error P11: bucket 0 is never updated

// -----

// P30a: a step that waits for its own messages has no place to hide the second half.
drop plan.program | attributes {overlap = "step"}
move plan.phase update | after plan.all_gather 0
move plan.wait 0 | after plan.phase update
error plan.all_gather 0 | P30: gathers bucket 0 by itself, which needs overlap = "step"
note plan.program | this program

// -----

// P30b: once.
note plan.all_gather 0 | first here
after plan.all_gather 0 | plan.all_gather 0
error P30: gathers bucket 0 twice

// -----

// P30b: behind the first half.
move plan.issue 0 | after plan.all_gather 0
note issued here
error plan.all_gather 0 | P30: gathers bucket 0 before it is issued

// -----

// P30b: before the wait of the same step.
move plan.phase update | after plan.issue 0
move plan.wait 0 | after plan.phase update
note waited for here
error plan.all_gather 0 | P30: gathers bucket 0 after it was waited for

// -----

// P30c: a second half that never travels.
drop plan.all_gather 0
error plan.bucket 0 | P30: travels in halves, but 'plan.all_gather' never hands over the second one

// -----

// P30c: a second half of a bucket that is one message.
drop plan.bucket 0 | {halved}
note declared here
error plan.all_gather 0 | P30: gathers bucket 0, which is not 'halved'

// -----

// P17: some of the parameters are new between the halves.
after plan.issue 0 | plan.call matmul "late" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P17: reads parameter 'w', which the message of bucket 0 changes
note plan.issue 0 | issued here

// -----

// P5: the gradients are in flight between the halves, too.
after plan.issue 0 | plan.call matmul "again" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
error P5: touches 'w' while bucket 0 is in flight
note plan.issue 0 | issued here

// -----

// P18: an evaluation hands nothing over.
after plan.issue 0 | plan.phase forward
error plan.all_gather 0 | P18: stands in the forward phase, which evaluation runs alone
