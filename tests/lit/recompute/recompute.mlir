// The pass `recompute`: what of a block is computed again, and where.
// RUN: syncline-opt %s -split-input-file -pass-pipeline='builtin.module(nn.step(recompute{globs=/h/*}),cse)' | FileCheck %s
// With bytes to free, the pass chooses by itself.
// RUN: syncline-opt %s -split-input-file -pass-pipeline='builtin.module(nn.step(recompute{free=64}))' | FileCheck %s --check-prefix=FREE
// FREE-LABEL: nn.step @block
// FREE: nn.layer_norm {{.*}}nn.recomputed

// The layer norm is repeated in front of its first reader in the backward pass. What leaves the
// block is kept, and CSE leaves the repetition alone: it is an operation of the backward pass.
// CHECK-LABEL: nn.step @block
// CHECK-SAME: nn.recomputation = {blocks = ["/h"], freed = {{.*}} : i64}
// CHECK: %[[X:.*]] = nn.input "x"
// CHECK: %[[H:.*]] = nn.layer_norm %[[X]], %{{.*}} nn.layer = "/h/norm", nn.seconds = 1.000000e+00 : f64}
// CHECK: %[[Y:.*]] = nn.matmul %[[H]]
// CHECK: %{{.*}}, %[[D:.*]] = nn.cross_entropy %[[Y]]
// CHECK: %[[A:.*]] = nn.layer_norm %[[X]], %{{.*}} nn.backward, nn.layer = "/h/norm", nn.recomputed, nn.seconds = 1.000000e+00 : f64}
// CHECK-NEXT: nn.matmul %[[D]], %[[A]] {nn.backward
// CHECK-NOT: nn.recomputed
nn.step @block batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4xi64>
  %s = nn.state "s" at 0 : tensor<8xf32>
  %w = nn.parameter "w" at 64 : tensor<2x8xf32>
  %h = nn.layer_norm %x, %s {epsilon = 1.0e-5 : f64, nn.layer = "/h/norm", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = nn.matmul %h, %w {transpose_b, nn.layer = "/h/fc", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.cross_entropy %y, %t {nn.layer = "/h/loss"} : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %dw = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "/h/fc"} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  nn.update %w, %dw : tensor<2x8xf32>, tensor<2x8xf32>
}

// -----

// A repeated batch_norm leaves the running statistics as they are. A dropout keeps its layer, from
// which its random numbers follow.
// CHECK-LABEL: nn.step @statistics
// CHECK: nn.batch_norm {{.*}}momentum = 1.000000e-01 : f64, nn.layer = "/h/bn"}
// CHECK: nn.dropout %{{.*}} {nn.layer = "/h/drop", ratio
// CHECK: nn.cross_entropy
// CHECK: %[[B:.*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm {{.*}}momentum = 0.000000e+00 : f64, nn.backward, nn.layer = "/h/bn", nn.recomputed}
// CHECK: %[[Z:.*]], %[[K:.*]] = nn.dropout %[[B]] {nn.backward, nn.layer = "/h/drop", nn.recomputed, ratio
// CHECK: nn.matmul %{{.*}}, %[[Z]] {nn.backward
// CHECK: nn.dropout_backward %{{.*}}, %[[K]]
// CHECK: nn.batch_norm_backward %{{.*}}, %{{.*}}, %[[M]], %[[V]]
nn.step @statistics batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4xi64>
  %s = nn.parameter "s" at 0 : tensor<8xf32>
  %r = nn.state "r" at 32 : tensor<8xf32>
  %w = nn.parameter "w" at 64 : tensor<2x8xf32>
  %b, %m, %v = nn.batch_norm %x, %s, %s, %r, %r {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, nn.layer = "/h/bn"}
    : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %z, %k = nn.dropout %b {ratio = 0.5 : f64, nn.layer = "/h/drop"} : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xui8>)
  %y = nn.matmul %z, %w {transpose_b, nn.layer = "/h/fc"} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.cross_entropy %y, %t {nn.layer = "loss"} : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %dw = nn.matmul %d, %z {transpose_a, nn.backward, nn.layer = "/h/fc"} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  %dz = nn.matmul %d, %w {nn.backward, nn.layer = "/h/fc"} : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %db = nn.dropout_backward %dz, %k {ratio = 0.5 : f64, nn.backward, nn.layer = "/h/drop"} : tensor<4x8xf32>, tensor<4x8xui8>
  %dx, %ds, %dh = nn.batch_norm_backward %x, %s, %m, %v, %db {epsilon = 1.0e-5 : f64, nn.backward, nn.layer = "/h/bn"}
    : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  nn.update %w, %dw : tensor<2x8xf32>, tensor<2x8xf32>
  nn.update %s, %ds : tensor<8xf32>, tensor<8xf32>
}
