// What becomes of a whole step: activity, accumulation, order of updates.
// RUN: syncline-opt %s -split-input-file -differentiate | FileCheck %s

// A tied parameter: the later use comes first, one update takes the sum.
// CHECK-LABEL: nn.step @tied
// CHECK: %[[W:.*]] = nn.parameter "w"
// CHECK: nn.loss
// CHECK-NEXT: %[[SECOND:.*]] = nn.matmul {{.*}}nn.layer = "second"
// CHECK-NEXT: %[[DH:.*]] = nn.matmul {{.*}}nn.layer = "second"
// CHECK-NEXT: %[[FIRST:.*]] = nn.matmul {{.*}}%[[DH]] {nn.backward, nn.layer = "first", transpose_a}
// CHECK-NEXT: %[[SUM:.*]] = nn.binary add %[[SECOND]], %[[FIRST]] {nn.backward, nn.layer = "first"}
// CHECK-NEXT: nn.update %[[W]], %[[SUM]]
// CHECK-NOT: nn.update
nn.step @tied batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<3x3xf32>
  %h = nn.matmul %x, %w {nn.layer = "first"} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %y = nn.matmul %h, %w {nn.layer = "second"} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Two parameters with one gradient get a copy each: buckets are summed in place.
// CHECK-LABEL: nn.step @shared
// CHECK: %[[A:.*]] = nn.parameter "a"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK-DAG: %[[DA:.*]] = nn.broadcast %[[DY]] {nn.backward, nn.layer = "a"}
// CHECK-DAG: %[[DB:.*]] = nn.broadcast %[[DY]] {nn.backward, nn.layer = "b"}
// CHECK-DAG: nn.update %[[A]], %[[DA]]
// CHECK-DAG: nn.update %[[B]], %[[DB]]
nn.step @shared batch 2 {
  %t = nn.target "t" : tensor<2x3xf32>
  %a = nn.parameter "a" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<2x3xf32>
  %y = nn.binary add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// What does not reach the loss, and what does not depend on a parameter, has no backward pass.
// CHECK-LABEL: nn.step @activity
// CHECK: %[[W:.*]] = nn.parameter "w"
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: nn.loss
// CHECK-NEXT: %[[DW:.*]] = nn.matmul %{{.*}}, %[[DY]] {nn.backward, transpose_a}
// CHECK-NEXT: nn.update %[[W]], %[[DW]]
// CHECK-NEXT: }
nn.step @activity batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<3x3xf32>
  %h = nn.unary tanh %x : tensor<2x3xf32>
  %y = nn.matmul %h, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %s = nn.softmax %y {axis = 1 : i64} : tensor<2x3xf32>
  nn.output %s "probabilities" : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// A scaled loss scales the gradient that came with it.
// CHECK-LABEL: nn.step @scaled
// CHECK: %[[L:.*]], %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[DL:.*]] = nn.binary mul %[[ONE]], %{{.*}} {nn.backward} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: nn.binary mul %[[DY]], %[[DL]] {nn.backward} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
nn.step @scaled batch 2 {
  %t = nn.target "t" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %w, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  %half = nn.constant dense<0.5> : tensor<f32>
  %s = nn.binary mul %l, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  nn.loss %s : tensor<f32>
}
