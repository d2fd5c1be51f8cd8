// Plans that break rule P29, about messages that the next step waits for, where factors travel.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: The next step waits for the factors of this one.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} attributes {overlap = "step"} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {init = dense<0.0> : tensor<4x4xf32>} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  %xs = plan.tensor "xs" in arena at 64 reserve 128 live [0, 5] : memref<8x4xf32>
  %h = plan.tensor "h" in arena at 192 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
  plan.phase update
  plan.wait 0
  plan.call matmul "dw" ["a", "b", "y"] ins(%xs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.update 0
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.gather 0 ins(%y : memref<4x4xf32>) outs(%xs : memref<8x4xf32>)
}

// -----

// P29: what is gathered for the next step lives from one step to the next.
change "xs" in arena | live [0, 5] => live [1, 9]
note declared here
error plan.wait 0 | P29: expected 'xs', which holds what bucket 0 gathers for the next step, to live in [0, 4], got [1, 9]

// -----

// P29: only what follows the wait may read what was gathered.
after matmul "y" | plan.call slice "cut" ["x", "y"] ins(%xs : memref<8x4xf32>) outs(%h : memref<4x4xf32>) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
error P29: touches 'xs', which only what follows the wait for bucket 0 may
note plan.wait 0 | waited for here

// -----

// P29: nor may another operation read what was computed from it, which is missing in the first step.
change "xs" in arena | live [0, 5] => live [0, 6]
after plan.wait 0 | plan.call slice "cut" ["x", "y"] ins(%xs : memref<8x4xf32>) outs(%h : memref<4x4xf32>) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
after matmul "y" | plan.call reshape "r" ["x", "y"] ins(%h : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P29: touches 'h', which only what follows the wait for bucket 0 may
note plan.wait 0 | waited for here

// -----

// P29: a state that the first step leaves out would differ from run to run.
after plan.wait 0 | plan.call slice "cut" ["x", "y"] ins(%xs : memref<8x4xf32>) outs(%s : memref<4x4xf32>) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
error P29: writes 's' between wait and update of bucket 0, which the first step leaves out
note plan.wait 0 | waited for here

// -----

// P29: gradients are computed where the factors have arrived.
move matmul "dw" | after plan.phase backward
after matmul "dw" | plan.phase backward
error matmul "dw" | P29: touches 'xs', which only what follows the wait for bucket 0 may
note plan.wait 0 | waited for here
