// Loops of one body are one function, however many rows each walks; functions and tensors have names of their own.
// RUN: syncline-translate --plan-to-cpp %s | FileCheck %s
// RUN: syncline-translate --plan-to-cuda %s | FileCheck %s --check-prefix=CUDA

// CHECK: CLONES void add(
// CHECK: r0[i0 * 4 + i1] = v0;
// CHECK-NOT: CLONES
// CHECK: addLoop = 0, addLoop_2,
// CHECK: {&splitRows<8, 4, add>, nullptr},
// CHECK-NEXT: {&splitRows<2, 4, add>, nullptr},
// CHECK-NEXT: };
// CHECK: x = 1, w, rows_2, few,
// CHECK: {Op::pointwise, "many rows", {x, w, rows_2}, {addLoop, 2, 1, false, false}},
// CHECK: {Op::pointwise, "few rows", {few, w, few}, {addLoop_2, 2, 1, false, false}},

// CUDA-COUNT-1: struct add : Loop<1, 2, 4>
// CUDA-NOT: struct
// CUDA: {&launchDense<add, 32>, nullptr},
// CUDA-NEXT: {&launchDense<add, 8>, nullptr},
plan.program @p ranks 1 batch 8 spaces {input = 128 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 64 : i64, arena = 256 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 128 : memref<8x4xf32>
  %w = plan.tensor "w" in state at 0 reserve 64 {values = 0 : i64} : memref<4xf32>
  %y = plan.tensor "rows" in arena at 0 reserve 128 live [0, 9] : memref<8x4xf32>
  %few = plan.tensor "few" in arena at 128 reserve 64 live [0, 9] : memref<2x4xf32>
  plan.phase forward
  plan.pointwise "many rows" ins(%x, %w : memref<8x4xf32>, memref<4xf32>) outs(%y : memref<8x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    plan.yield %s : f32
  }
  plan.pointwise "few rows" ins(%few, %w : memref<2x4xf32>, memref<4xf32>) outs(%few : memref<2x4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    plan.yield %s : f32
  }
}
