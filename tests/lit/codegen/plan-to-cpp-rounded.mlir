// A rounded tensor's row says so: a backend stores it as bf16, in the bytes that it reserves.
// RUN: syncline-translate --plan-to-cpp %s | FileCheck %s

// CHECK: constexpr TensorRow<2> tensors[] = {
module attributes {nn.precision = "bf16"} {
plan.program @p ranks 1 batch 4 spaces {input = 256 : i64, target = 0 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 384 : i64} {
  // CHECK-NEXT: {"x", Space::input, ElementType::f32, 2, {4, 16}, 0, 256},
  %x = plan.tensor "x" in input at 0 reserve 256 : memref<4x16xf32>
  // CHECK-NEXT: {"y", Space::arena, ElementType::f32, 2, {4, 16}, 0, 128, true},
  %y = plan.tensor "y" in arena at 0 reserve 128 live [0, 1] {rounded} : memref<4x16xf32>
  // CHECK-NEXT: {"z", Space::arena, ElementType::f32, 2, {4, 16}, 128, 256},
  %z = plan.tensor "z" in arena at 128 reserve 256 live [1, 1] : memref<4x16xf32>
  plan.phase forward
  plan.call reshape "y" ["x", "y"] ins(%x : memref<4x16xf32>) outs(%y : memref<4x16xf32>)
  plan.call reshape "z" ["x", "y"] ins(%y : memref<4x16xf32>) outs(%z : memref<4x16xf32>)
}
}
