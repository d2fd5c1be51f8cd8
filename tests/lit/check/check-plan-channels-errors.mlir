// Programs of several channels that break P4 or P7.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Four buckets on two channels.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 256 : i64, gradients = 256 : i64, state = 64 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %a = plan.tensor "a" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %b = plan.tensor "b" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %c = plan.tensor "c" in parameters at 128 reserve 64 {bucket = 2 : i64} : memref<4x4xf32>
  %d = plan.tensor "d" in parameters at 192 reserve 64 {bucket = 3 : i64} : memref<4x4xf32>
  %da = plan.tensor "a" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %db = plan.tensor "b" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dc = plan.tensor "c" in gradients at 128 reserve 64 {bucket = 2 : i64} : memref<4x4xf32>
  %dd = plan.tensor "d" in gradients at 192 reserve 64 {bucket = 3 : i64} : memref<4x4xf32>
  plan.bucket 0 members ["a"] by ring channel 0 at 0 extent 64 bytes 64
  plan.bucket 1 members ["b"] by ring channel 1 at 64 extent 64 bytes 64
  plan.bucket 2 members ["c"] by ring channel 0 at 128 extent 64 bytes 64
  plan.bucket 3 members ["d"] by ring channel 1 at 192 extent 64 bytes 64
  plan.call matmul "da" ["a", "b", "y"] ins(%a, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%da : memref<4x4xf32>)
  plan.call matmul "db" ["a", "b", "y"] ins(%b, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%db : memref<4x4xf32>)
  plan.call matmul "dc" ["a", "b", "y"] ins(%c, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dc : memref<4x4xf32>)
  plan.call matmul "dd" ["a", "b", "y"] ins(%d, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dd : memref<4x4xf32>)
  plan.issue 0
  plan.issue 1
  plan.issue 2
  plan.issue 3
  plan.wait 0
  plan.update 0
  plan.wait 1
  plan.update 1
  plan.wait 2
  plan.update 2
  plan.wait 3
  plan.update 3
}

// -----

// P4: more channels than a plan may have.
change plan.bucket 1 | channel 1 => channel 8
error P4: expected a channel from 0 to 7, got 8

// -----

// P7: the second channel's buckets change places. No rank would wait for ever, but a server would sum
// them in the order of their numbers.
move plan.issue 3 | after plan.issue 0
error P7: bucket 3 is issued before an earlier one of its channel
note plan.issue 1 | the earlier one is issued here

// -----

// P7: a circle over both channels. Dedicated servers sum a channel's buckets by number.
move plan.wait 3 | after plan.issue 3
move plan.issue 0 | after plan.wait 3
move plan.wait 2 | after plan.issue 0
move plan.issue 1 | after plan.wait 2
move plan.update 0 | after plan.wait 1
error plan.issue 2 | P7: bucket 2 is issued before an earlier one of its channel
note plan.bucket 2 | no rank goes on: bucket 2 travels behind bucket 0 of its channel
note plan.bucket 3 | no rank goes on: bucket 3 travels behind bucket 1 of its channel
note plan.wait 3 | no rank goes on: bucket 0 is issued behind this wait for bucket 3
note plan.issue 0 | the earlier one is issued here
note plan.wait 2 | no rank goes on: bucket 1 is issued behind this wait for bucket 2

// -----

// Valid: Each channel issues its buckets by number; between channels the order is free (P7).
move plan.issue 0 | after plan.issue 1
move plan.issue 2 | after plan.issue 3

// -----

// Valid: A wait for one channel's bucket may stand before another channel's issue.
move plan.wait 1 | after plan.issue 1
move plan.update 1 | after plan.wait 1
move plan.issue 0 | after plan.update 1
move plan.wait 3 | after plan.issue 3
move plan.update 3 | after plan.wait 3
move plan.issue 2 | after plan.update 3
