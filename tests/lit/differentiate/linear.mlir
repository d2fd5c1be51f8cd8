// Derivatives of convolutions and products: weights first, data next, no transposed tensors.
// RUN: syncline-opt %s -split-input-file -differentiate | FileCheck %s

// Both gradients that need the same dy come from one operation; the input needs none.
// CHECK-LABEL: nn.step @conv
// CHECK: %[[W:.*]] = nn.parameter "w"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK: %[[L:.*]], %[[DY:.*]] = nn.mean_squared_error
// CHECK: nn.loss %[[L]]
// CHECK-NEXT: %[[DW:.*]], %[[DB:.*]] = nn.conv_backward_weights %{{.*}}, %[[DY]] {dilations = array<i64: 1>, groups = 2 : i64, nn.backward, nn.layer = "conv1", pads_begin = array<i64: 1>, pads_end = array<i64: 0>, strides = array<i64: 2>}
// CHECK-NEXT: nn.update %[[W]], %[[DW]]
// CHECK-NEXT: nn.update %[[B]], %[[DB]]
nn.step @conv batch 2 {
  %x = nn.input "x" : tensor<2x2x6xf32>
  %t = nn.target "t" : tensor<2x4x3xf32>
  %w = nn.parameter "w" at 0 : tensor<4x1x3xf32>
  %b = nn.parameter "b" at 64 : tensor<4xf32>
  %y = nn.conv %x, %w bias %b {strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 1>,
    pads_end = array<i64: 0>, groups = 2 : i64, nn.layer = "conv1"} : (tensor<2x2x6xf32>, tensor<4x1x3xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> (tensor<f32>, tensor<2x4x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// The gradient of a frozen weight is not computed; its bias is summed; data flows on.
// CHECK-LABEL: nn.step @frozen
// CHECK: nn.loss
// CHECK-NEXT: %[[DB:.*]] = nn.reduce sum %[[DY:.*]] {axes = array<i64: 0, 2>, nn.backward}
// CHECK-NEXT: %[[DX:.*]] = nn.conv_backward_data %[[DY]]
// CHECK-NEXT: %[[DV:.*]] = nn.conv_backward_weights %{{.*}}, %[[DX]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DB]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DV]]
nn.step @frozen batch 2 {
  %x = nn.input "x" : tensor<2x2x6xf32>
  %t = nn.target "t" : tensor<2x2x6xf32>
  %v = nn.parameter "v" at 0 : tensor<2x2x1xf32>
  %w = nn.state "w" at 64 : tensor<2x2x1xf32>
  %b = nn.parameter "b" at 128 : tensor<2xf32>
  %0 = nn.conv %x, %v {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>}
    : (tensor<2x2x6xf32>, tensor<2x2x1xf32>) -> tensor<2x2x6xf32>
  %y = nn.conv %0, %w bias %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>}
    : (tensor<2x2x6xf32>, tensor<2x2x1xf32>, tensor<2xf32>) -> tensor<2x2x6xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x2x6xf32>, tensor<2x2x6xf32>) -> (tensor<f32>, tensor<2x2x6xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// y = x·wᵀ + b: db = Σ dy, dw = dyᵀ·x, dx = dy·w.
// CHECK-LABEL: nn.step @matmul
// CHECK: %[[H:.*]] = nn.unary tanh
// CHECK: %{{.*}}, %[[DY:.*]] = nn.cross_entropy
// CHECK: %[[DB:.*]] = nn.reduce sum %[[DY]] {axes = array<i64: 0>, nn.backward, nn.layer = "fc"} : (tensor<4x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[DW:.*]] = nn.matmul %[[DY]], %[[H]] {nn.backward, nn.layer = "fc", transpose_a} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[DH:.*]] = nn.matmul %[[DY]], %{{.*}} {nn.backward, nn.layer = "fc"} : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: nn.unary_backward tanh %[[H]], %[[DH]]
nn.step @matmul batch 4 {
  %t = nn.target "t" : tensor<4xi64>
  %x = nn.parameter "x" at 0 : tensor<4x8xf32>
  %w = nn.parameter "w" at 128 : tensor<2x8xf32>
  %b = nn.parameter "b" at 192 : tensor<2xf32>
  %h = nn.unary tanh %x : tensor<4x8xf32>
  %y = nn.matmul %h, %w bias %b {transpose_b, nn.layer = "fc"} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %l, %d = nn.cross_entropy %y, %t : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// One weight for a batch of matrices: the sum over the batch happens inside the product.
// CHECK-LABEL: nn.step @tokens
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[X:.*]] = nn.reshape %{{.*}} {nn.backward} : (tensor<4x3x8xf32>) -> tensor<12x8xf32>
// CHECK-NEXT: %[[D:.*]] = nn.reshape %[[DY]] {nn.backward} : (tensor<4x3x2xf32>) -> tensor<12x2xf32>
// CHECK-NEXT: nn.matmul %[[X]], %[[D]] {nn.backward, transpose_a} : (tensor<12x8xf32>, tensor<12x2xf32>) -> tensor<8x2xf32>
nn.step @tokens batch 4 {
  %x = nn.input "x" : tensor<4x3x8xf32>
  %t = nn.target "t" : tensor<4x3x2xf32>
  %w = nn.parameter "w" at 0 : tensor<8x2xf32>
  %y = nn.matmul %x, %w : (tensor<4x3x8xf32>, tensor<8x2xf32>) -> tensor<4x3x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x3x2xf32>, tensor<4x3x2xf32>) -> (tensor<f32>, tensor<4x3x2xf32>)
  nn.loss %l : tensor<f32>
}
