// Derivatives of operations that move or reduce elements.
// RUN: syncline-opt %s -split-input-file -differentiate | FileCheck %s

// CHECK-LABEL: nn.step @reshape
// CHECK: nn.reshape %{{.*}} {nn.backward, nn.layer = "flat"} : (tensor<6xf32>) -> tensor<2x3xf32>
nn.step @reshape batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<6xf32>
  %y = nn.reshape %x {nn.layer = "flat"} : (tensor<2x3xf32>) -> tensor<6xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<6xf32>, tensor<6xf32>) -> (tensor<f32>, tensor<6xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// The inverse permutation.
// CHECK-LABEL: nn.step @transpose
// CHECK: nn.transpose %{{.*}} {nn.backward, permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
nn.step @transpose batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3x4xf32>
  %t = nn.target "t" : tensor<4x2x3xf32>
  %y = nn.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2x3xf32>, tensor<4x2x3xf32>) -> (tensor<f32>, tensor<4x2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// One slice for each operand that is trained; the input has none.
// CHECK-LABEL: nn.step @concat
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[DX:.*]] = nn.slice %[[DY]] {nn.backward, starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[DB:.*]] = nn.slice %[[DY]] {nn.backward, starts = array<i64: 0, 5>, steps = array<i64: 1, 1>} : (tensor<2x6xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: nn.update
nn.step @concat batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %i = nn.input "i" : tensor<2x2xf32>
  %b = nn.parameter "b" at 64 : tensor<2x1xf32>
  %t = nn.target "t" : tensor<2x6xf32>
  %y = nn.concat %x, %i, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x6xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x6xf32>, tensor<2x6xf32>) -> (tensor<f32>, tensor<2x6xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @slice
// CHECK: nn.slice_backward %{{.*}} {nn.backward, starts = array<i64: 4, 0>, steps = array<i64: -2, 1>} : (tensor<2x3xf32>) -> tensor<5x3xf32>
nn.step @slice batch 2 {
  %x = nn.parameter "x" at 0 : tensor<5x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.slice %x {starts = array<i64: 4, 0>, steps = array<i64: -2, 1>} : (tensor<5x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Padding that only grows is undone by a slice.
// CHECK-LABEL: nn.step @pad
// CHECK: nn.slice %{{.*}} {nn.backward, starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<2x3xf32>
nn.step @pad batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<4x3xf32>
  %y = nn.pad %x {begins = array<i64: 1, 0>, value = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x3xf32>, tensor<4x3xf32>) -> (tensor<f32>, tensor<4x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Padding that also crops is undone by the opposite padding, with zeros.
// CHECK-LABEL: nn.step @crop
// CHECK: nn.pad %{{.*}} {begins = array<i64: -1, 1>, nn.backward, value = 0.000000e+00 : f64} : (tensor<4x2xf32>) -> tensor<2x3xf32>
nn.step @crop batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %y = nn.pad %x {begins = array<i64: 1, -1>, value = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @sum
// CHECK: %[[K:.*]] = nn.reshape %{{.*}} {nn.backward} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: nn.broadcast %[[K]] {nn.backward} : (tensor<2x1xf32>) -> tensor<2x3xf32>
nn.step @sum batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2xf32>
  %y = nn.reduce sum %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// A mean's gradient is scaled while it is small.
// CHECK-LABEL: nn.step @mean
// CHECK: %[[C:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK-NEXT: %[[S:.*]] = nn.binary mul %{{.*}}, %[[C]] {nn.backward} : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
// CHECK-NEXT: nn.broadcast %[[S]] {nn.backward} : (tensor<2x1xf32>) -> tensor<2x4xf32>
nn.step @mean batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x4xf32>
  %t = nn.target "t" : tensor<2x1xf32>
  %y = nn.reduce mean %x {axes = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<f32>, tensor<2x1xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// The elements that are the maximum share its gradient.
// CHECK-LABEL: nn.step @maximum
// CHECK: %[[Y:.*]] = nn.reduce maximum %[[X:.*]] {axes = array<i64: 1>}
// CHECK: %[[K:.*]] = nn.reshape %[[Y]] {nn.backward} : (tensor<2xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[IS:.*]] = nn.binary not_less %[[X]], %[[K]] {nn.backward}
// CHECK-NEXT: %[[N:.*]] = nn.reduce sum %[[IS]] {axes = array<i64: 1>, nn.backward} : (tensor<2x4xf32>) -> tensor<2x1xf32>
// CHECK: %[[S:.*]] = nn.binary div %{{.*}}, %[[N]] {nn.backward}
// CHECK-NEXT: nn.binary mul %[[IS]], %[[S]] {nn.backward}
nn.step @maximum batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x4xf32>
  %t = nn.target "t" : tensor<2xf32>
  %y = nn.reduce maximum %x {axes = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  nn.loss %l : tensor<f32>
}
