// Plans whose messages reach over the step's end.
// RUN: syncline-opt --check-plan --split-input-file %patched | FileCheck %s

// Base: A sum is waited for before the first reader of its parameter.
// CHECK-LABEL: plan.program @p
// CHECK-SAME: attributes {overlap = "step"}
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

// A reduce-scatter too: its message has updated the parameter.
// CHECK-LABEL: plan.program @p
drop plan.update 0
change plan.bucket 0 | ring => "reduce-scatter"

// -----

// A factor may be written while it travels, because the gather has copied it.
// CHECK-LABEL: plan.program @p
drop matmul "dw"
drop plan.issue 0
change plan.bucket 0 | ring => factors
after "w" in gradients | %s = plan.tensor "s" in state at 0 reserve 64 {init = dense<0.0> : tensor<4x4xf32>} : memref<4x4xf32>
before plan.bucket 0 | %xs = plan.tensor "xs" in arena at 64 reserve 128 live [0, 6] : memref<8x4xf32>
before plan.bucket 0 | %h = plan.tensor "h" in arena at 192 reserve 64 live [0, 9] : memref<4x4xf32>
before plan.phase update | plan.phase forward
before plan.phase update | plan.call reshape "before" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
before plan.update 0 | plan.call slice "cut" ["x", "y"] ins(%xs : memref<8x4xf32>) outs(%h : memref<4x4xf32>) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
before plan.update 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%xs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
after plan.phase backward | plan.gather 0 ins(%y : memref<4x4xf32>) outs(%xs : memref<8x4xf32>)

// -----

// A bucket may wait for its own step all the same.
// CHECK-LABEL: plan.program @p
move plan.phase update | after plan.issue 0
move plan.wait 0 | after plan.phase update
move plan.update 0 | after plan.wait 0
