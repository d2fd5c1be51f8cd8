// The gradients of slices that lie side by side are joined, not padded one by one.
// RUN: syncline-opt %s -split-input-file -differentiate | FileCheck %s

// All parts, as soon as the last one is there: before the gradient of w.
// CHECK-LABEL: nn.step @all
// CHECK-NOT: nn.slice_backward
// CHECK: %[[DX:.*]] = nn.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64, nn.backward} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
// CHECK: %[[DW:.*]] = nn.matmul
// CHECK: nn.update {{.*}}%[[DX]]
// CHECK: nn.update {{.*}}%[[DW]]
nn.step @all batch 2 {
  %i = nn.input "i" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<3x3xf32>
  %x = nn.parameter "x" at 64 : tensor<6x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %h = nn.matmul %i, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %c = nn.slice %x {starts = array<i64: 4, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %a = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %b = nn.slice %x {starts = array<i64: 2, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %d = nn.binary add %h, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = nn.binary mul %d, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = nn.binary mul %e, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %g = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// A run of parts is padded once, and a part that is read twice is added up first.
// CHECK-LABEL: nn.step @some
// CHECK: nn.binary add {{.*}}nn.backward
// CHECK: %[[JOINED:.*]] = nn.concat %{{.*}}, %{{.*}} {axis = 0 : i64, nn.backward} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: nn.slice_backward %[[JOINED]] {nn.backward, starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<6x3xf32>
// CHECK-NOT: nn.slice_backward
nn.step @some batch 2 {
  %x = nn.parameter "x" at 0 : tensor<6x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %a = nn.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %b = nn.slice %x {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %c = nn.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<6x3xf32>) -> tensor<2x3xf32>
  %d = nn.binary mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = nn.binary mul %d, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %g = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Parts with rows in common.
// CHECK-LABEL: nn.step @overlapping
// CHECK: nn.slice_backward
// CHECK: nn.slice_backward
// CHECK-NOT: nn.concat
nn.step @overlapping batch 2 {
  %x = nn.parameter "x" at 0 : tensor<3x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %a = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<3x3xf32>) -> tensor<2x3xf32>
  %b = nn.slice %x {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<3x3xf32>) -> tensor<2x3xf32>
  %y = nn.binary mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %g = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}
