// Plans that break P33, or P2 and P10 about rounded tensors. Rounded images in order: lower/lower-precision.mlir.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %s

// P33: only a step in bf16 has rounded tensors.
plan.program @p ranks 1 batch 4 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  // expected-error @+1 {{P33: 'h' is rounded in a step that computes in fp32}}
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 0] {rounded} : memref<4x4xf32>
  plan.call reshape "h" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>)
}

// -----

// P33: parameters, samples and state keep their type.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  // expected-error @+1 {{P33: expected a rounded tensor in the arena, with elements of f32}}
  %x = plan.tensor "x" in input at 0 reserve 64 {rounded} : memref<4x4xf32>
}
}

// -----

// P33: a mask is not rounded.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  // expected-error @+1 {{P33: expected a rounded tensor in the arena, with elements of f32}}
  %x = plan.tensor "mask" in arena at 0 reserve 64 live [0, 0] {rounded} : memref<4x4xui8>
}
}

// -----

// P2: a rounded tensor reserves two bytes an element, not fewer.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 256 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 256 : memref<4x16xf32>
  // expected-error @+1 {{P2: expected at least 128 reserved bytes, got 127}}
  %h = plan.tensor "h" in arena at 0 reserve 127 live [0, 0] {rounded} : memref<4x16xf32>
  plan.call reshape "h" ["x", "y"] ins(%x : memref<4x16xf32>) outs(%h : memref<4x16xf32>)
}
}

// -----

// P2: without the mark four bytes.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 256 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 128 : i64} {
  // expected-error @+1 {{P2: expected at least 256 reserved bytes, got 128}}
  %h = plan.tensor "h" in arena at 0 reserve 128 live [0, 0] : memref<4x16xf32>
}
}

// -----

// P10: the true sizes count: 128 bytes from 64 on overlap what lies at 128.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 256 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 256 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 256 : memref<4x16xf32>
  // expected-note @+1 {{declared here}}
  %h = plan.tensor "h" in arena at 0 reserve 128 live [0, 1] {rounded} : memref<4x16xf32>
  // expected-error @+1 {{P10: 'y' overlaps 'h' in space and time}}
  %y = plan.tensor "y" in arena at 64 reserve 128 live [1, 1] {rounded} : memref<4x16xf32>
  plan.call reshape "h" ["x", "y"] ins(%x : memref<4x16xf32>) outs(%h : memref<4x16xf32>)
  plan.call reshape "y" ["x", "y"] ins(%h : memref<4x16xf32>) outs(%y : memref<4x16xf32>)
}
}

// -----

// P10: element i of a rounded result does not lie where element i of its f32 operand lies.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  // expected-note @+1 {{declared here}}
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
  // expected-error @+1 {{P10: 'y' overlaps 'h' in space and time}}
  %y = plan.tensor "y" in arena at 0 reserve 64 live [1, 1] {rounded} : memref<4x4xf32>
  plan.call reshape "h" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.pointwise "y" ins(%h : memref<4x4xf32>) outs(%y : memref<4x4xf32>) attributes {flat, keeps_zero} {
  ^bb0(%a: f32):
    plan.yield %a : f32
  }
}
}

// -----

// P33: what is gathered travels as f32.
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  // expected-note @+1 {{declared here}}
  %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [0, 9] {rounded} : memref<8x4xf32>
  %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [0, 9] : memref<8x4xf32>
  plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  // expected-error @+1 {{P33: writes 'x.gathered', which is rounded}}
  plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
  plan.wait 0
  plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.update 0
}
}
