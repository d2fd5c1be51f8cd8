// Loops that have no C++ are refused with a reason.
// RUN: syncline-translate --plan-to-cpp --split-input-file --verify-diagnostics %s

plan.program @half ranks 1 batch 1 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4xbf16>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 0] : memref<4xbf16>
  // expected-error @+1 {{generated loops do not compute with 16-bit floats}}
  plan.pointwise "copy" ins(%x : memref<4xbf16>) outs(%y : memref<4xbf16>) attributes {flat, keeps_zero} {
  ^bb0(%a: bf16):
    plan.yield %a : bf16
  }
}

// -----

plan.program @unknown ranks 1 batch 1 spaces {input = 64 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 0] : memref<4xf32>
  plan.pointwise "odd" ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) attributes {flat} {
  ^bb0(%a: f32):
    // expected-error @+1 {{no C++ for 'math.cbrt' in a generated loop}}
    %b = math.cbrt %a : f32
    plan.yield %b : f32
  }
}
