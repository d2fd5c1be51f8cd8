// Plans that break a rule about messages that update or about where messages stand: P17, P18.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: A message that updates.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  %r = plan.tensor "r" in arena at 64 reserve 64 live [0, 9] : memref<4x4xf32>
  %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [0, 9] : memref<8x4xf32>
  %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [0, 9] : memref<8x4xf32>
  plan.bucket 0 members ["w"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.wait 0
}

// -----

// P17: the message updates.
after plan.wait 0 | plan.update 0
error P17: updates bucket 0, whose message does
note plan.bucket 0 | by this scheme

// -----

// P17: the message may have written a parameter.
after plan.issue 0 | plan.call reshape "r" ["x", "y"] ins(%w : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
error P17: reads parameter 'w', which the message of bucket 0 changes
note plan.issue 0 | issued here

// -----

// P17: the sum is spread over the ranks.
after plan.wait 0 | plan.call reshape "r" ["x", "y"] ins(%dw : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
error P17: reads gradient 'w', which the message of bucket 0 changes
note plan.issue 0 | issued here

// -----

// P18: evaluation ends with the forward phase, and nobody would wait.
drop matmul "dw"
drop plan.issue 0
change plan.bucket 0 | "reduce-scatter" => factors
after plan.bucket 0 | plan.phase forward
before plan.wait 0 | plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
before plan.wait 0 | plan.phase update
after plan.wait 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
after matmul "dw" | plan.update 0
error plan.gather 0 | P18: stands in the forward phase, which evaluation runs alone
