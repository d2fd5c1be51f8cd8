// Derivatives of pooling.
// RUN: syncline-opt %s -differentiate | FileCheck %s

// CHECK-LABEL: nn.step @pools
// CHECK: %{{.*}}, %[[WS:.*]] = nn.max_pool
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[D:.*]] = nn.average_pool_backward %[[DY]] {count_include_pad, dilations = array<i64: 1>, kernel = array<i64: 2>, nn.backward, nn.layer = "avg", pads_begin = array<i64: 0>, pads_end = array<i64: 1>, strides = array<i64: 2>} : (tensor<2x1x2xf32>) -> tensor<2x1x3xf32>
// CHECK-NEXT: nn.max_pool_backward %[[D]], %[[WS]] {dilations = array<i64: 2>, kernel = array<i64: 2>, nn.backward, nn.layer = "max", pads_begin = array<i64: 0>, pads_end = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x1x3xf32>, tensor<2x1x3xui8>) -> tensor<2x1x5xf32>
nn.step @pools batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x1x5xf32>
  %t = nn.target "t" : tensor<2x1x2xf32>
  %p, %ws = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 2>, pads_begin = array<i64: 0>,
    pads_end = array<i64: 0>, nn.layer = "max"} : (tensor<2x1x5xf32>) -> (tensor<2x1x3xf32>, tensor<2x1x3xui8>)
  %y = nn.average_pool %p {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 0>,
    pads_end = array<i64: 1>, count_include_pad, nn.layer = "avg"} : (tensor<2x1x3xf32>) -> tensor<2x1x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x1x2xf32>, tensor<2x1x2xf32>) -> (tensor<f32>, tensor<2x1x2xf32>)
  nn.loss %l : tensor<f32>
}
