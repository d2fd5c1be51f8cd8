// Generated code for schemes by which gradients are not simply summed.
// RUN: syncline-translate --plan-to-cpp --split-input-file %s | FileCheck %s

plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 0 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
  %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [3, 6] : memref<8x4xf32>
  // CHECK: {"h.gathered", Space::arena, ElementType::f32, 2, {8, 4}, 256, 128},
  %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [3, 6] : memref<8x4xf32>
  // CHECK: {.id = 0, .channel = 0, .scheme = "reduce-scatter",
  plan.bucket 0 members ["v"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64
  // CHECK: {.id = 1, .channel = 0, .scheme = "factors",
  plan.bucket 1 members ["w"] by factors channel 0 at 64 extent 64 bytes 64
  plan.phase backward
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  // CHECK: {Op::matmul, "v", {h, x, 0, d_v}, {true, false, false}},
  // CHECK-NEXT: {Op::issue, "", {}, {0}},
  // CHECK-NEXT: {Op::gather, "", {x, h, x_gathered, h_gathered}, {1, 2}},
  plan.call matmul "v" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.gather 1 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
  // CHECK: {Op::phase, "update"},
  // CHECK-NEXT: {Op::wait, "", {}, {0}},
  // CHECK-NEXT: {Op::wait, "", {}, {1}},
  // CHECK-NEXT: {Op::matmul, "w", {h_gathered, x_gathered, 0, d_w}, {true, false, false}},
  // CHECK-NEXT: {Op::update, "", {}, {1}},
  plan.phase update
  plan.wait 0
  plan.wait 1
  plan.call matmul "w" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.update 1
}

// -----

// Halves of a reduce-scatter are handed over one by one.
plan.program @halves ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 0 : i64, arena = 64 : i64} attributes {overlap = "step"} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64 {halved}
  // CHECK: {Op::wait, "", {}, {0}},
  plan.phase update
  plan.wait 0
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  // CHECK: {Op::issue, "", {}, {0}},
  // CHECK-NEXT: {Op::allGather, "", {}, {0}},
  plan.issue 0
  plan.all_gather 0
}
