// Plans that break a rule about the order of bucket operations: P5, P7, P11.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Two buckets.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 128 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 3] : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 64 reserve 64 live [1, 1] : memref<4x4xf32>
  plan.bucket 0 members ["v"] by ring channel 0 at 0 extent 64 bytes 64
  plan.bucket 1 members ["w"] by ring channel 0 at 64 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.call matmul "y" ["a", "b", "y"] ins(%h, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>)
  plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.issue 1
  plan.wait 0
  plan.update 0
  plan.wait 1
  plan.update 1
}

// -----

// P5: between issue and wait nobody touches a gradient.
change "y" in arena | live [1, 1] => live [1, 6]
after plan.issue 1 | plan.call reshape "r" ["x", "y"] ins(%dv : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P5: touches 'v' while bucket 0 is in flight
note plan.issue 0 | issued here

// -----

// P5: the next step starts from updated parameters, this one must be done with them.
change "y" in arena | live [1, 1] => live [1, 8]
after plan.update 0 | plan.call reshape "r" ["x", "y"] ins(%v : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P5: reads parameter 'v' after its update
note plan.update 0 | updated here

// -----

// P7: a bucket is complete when it is issued.
change "h" in arena | live [0, 3] => live [0, 5]
move plan.issue 0 | after matmul "y"
move plan.wait 0 | after plan.issue 0
error plan.issue 0 | P7: issues bucket 0 before 'v' is complete
note matmul "dv" | written here

// -----

// P7: every member is written by somebody.
drop matmul "dv"
error plan.issue 0 | P7: issues bucket 0, but nothing writes 'v'
note "v" in gradients | this gradient

// -----

// P7: a bucket is issued once: otherwise its sum is summed again.
note plan.issue 0 | first here
after plan.wait 0 | plan.issue 0
error P7: bucket 0 is issued twice

// -----

// P7: a gradient that never travels never agrees.
drop plan.issue 1
error plan.bucket 1 | P7: bucket 1 is never issued

// -----

// P7: ranks that issue in different orders would hang; the order is that of the numbers.
move plan.issue 0 | after plan.issue 1
note the earlier one is issued here
error plan.issue 1 | P7: bucket 1 is issued before an earlier one of its channel

// -----

// P7: only declared buckets travel.
after plan.issue 1 | plan.issue 7
error P7: bucket 7 is not declared

// -----

// P11: first issue, then wait.
move plan.wait 0 | after matmul "dw"
error P11: waits for bucket 0 before it is issued
note plan.issue 0 | issued here

// -----

// P11: first wait, then update.
move plan.wait 0 | after plan.update 0
note waited for here
error plan.update 0 | P11: updates bucket 0 before it has arrived

// -----

// P11: every bucket is updated.
drop plan.update 0
error plan.bucket 0 | P11: bucket 0 is never updated
