// Programs that a run takes.
// RUN: syncline-opt --check-plan --check-runnable --split-input-file --verify-diagnostics %patched

// Base: A product and a cross-entropy.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// Valid: The output is a softmax of what the loss is computed from, or a reshape of it (P25).
change arena = 192 => arena = 320
change "y" in arena | live [0, 2] {output} => live [0, 3]
change "dy" in arena | live [1, 3] => live [1, 5]
before plan.bucket 0 | %p = plan.tensor "p" in arena at 192 reserve 64 live [3, 4] : memref<4x4xf32>
before plan.bucket 0 | %q = plan.tensor "q" in arena at 256 reserve 64 live [4, 4] {output} : memref<4x4x1xf32>
before plan.phase backward | plan.call softmax "p" ["x", "y"] ins(%y : memref<4x4xf32>) outs(%p : memref<4x4xf32>) {axis = 1 : i64}
before plan.phase backward | plan.call reshape "q" ["x", "y"] ins(%p : memref<4x4xf32>) outs(%q : memref<4x4x1xf32>)

// -----

// Valid: A loss that the model computes compares an input with what is no output (P25).
change input = 64 : i64, target = 64 => input = 128 : i64, target = 0
change "t" in target at 0 => "t" in input at 64
drop "y" in arena | {output}
