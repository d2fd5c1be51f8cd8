// A step in bf16 reserves two bytes an element for images that backends store as bf16.
// RUN: syncline-opt --lower-to-plan --check-plan %s | FileCheck %s

module attributes {nn.precision = "bf16", cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// CHECK-LABEL: plan.program @net
nn.step @net batch 4 {
  %x = nn.input "x" : tensor<4x16x4x4xf32>
  %t = nn.target "label" : tensor<4xi64>
  %k = nn.parameter "conv.weight" at 0 : tensor<16x16x1x1xf32>
  %w = nn.parameter "fc.weight" at 1024 : tensor<2x16xf32>

  // Samples, parameters and gradients have four bytes an element.
  // CHECK-DAG: plan.tensor "x" in input at 0 reserve 4096 :
  // CHECK-DAG: plan.tensor "conv.weight" in parameters at {{[0-9]+}} reserve 1024
  // CHECK-DAG: plan.tensor "conv.weight" in gradients at {{[0-9]+}} reserve 1024

  // The ReLU takes the place of the convolution's result, since both are rounded. Their lifetime
  // ends at the loop of the backward pass, which reads the ReLU's result.
  // CHECK: plan.tensor "conv" in arena at [[AT:[0-9]+]] reserve 2048 live [0, 1] {rounded} : memref<4x16x4x4xf32>
  // CHECK: plan.tensor "relu" in arena at [[AT]] reserve 2048 live [1, {{[0-9]+}}] {rounded} : memref<4x16x4x4xf32>
  %c = nn.conv %x, %k {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "conv"} : (tensor<4x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<4x16x4x4xf32>
  %r = nn.pointwise %c {nn.layer = "relu"} : (tensor<4x16x4x4xf32>) -> tensor<4x16x4x4xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    nn.yield %m : f32
  }
  // Means, products, losses and their gradients are f32.
  // CHECK: plan.tensor "mean" in arena at {{[0-9]+}} reserve 256 live {{\[[0-9]+, [0-9]+\]}} :
  %a = nn.average_pool %r {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "mean"} : (tensor<4x16x4x4xf32>) -> tensor<4x16x1x1xf32>
  // CHECK-NOT: rounded
  %f = nn.reshape %a {nn.layer = "flatten"} : (tensor<4x16x1x1xf32>) -> tensor<4x16xf32>
  %y = nn.matmul %f, %w {transpose_b, nn.layer = "fc"} : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  nn.output %y "logits" : tensor<4x2xf32>
  %l, %d = nn.cross_entropy %y, %t {nn.layer = "loss"} : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %dw = nn.matmul %d, %f {transpose_a, nn.backward, nn.layer = "fc"} : (tensor<4x2xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
  %df = nn.matmul %d, %w {nn.backward, nn.layer = "fc"} : (tensor<4x2xf32>, tensor<2x16xf32>) -> tensor<4x16xf32>
  %da = nn.reshape %df {nn.backward, nn.layer = "flatten"} : (tensor<4x16xf32>) -> tensor<4x16x1x1xf32>
  %dr = nn.average_pool_backward %da {kernel = array<i64: 4, 4>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.backward, nn.layer = "mean"} : (tensor<4x16x1x1xf32>) -> tensor<4x16x4x4xf32>
  // A loop over the rounded ReLU and this f32 gradient is rounded, but takes neither's place: the
  // one ends there with other bytes.
  // CHECK: plan.tensor "relu.grad" in arena at {{[0-9]+}} reserve 2048 live {{\[[0-9]+, [0-9]+\]}} {rounded}
  %dc = nn.pointwise %dr, %r {nn.backward, nn.layer = "relu"} : (tensor<4x16x4x4xf32>, tensor<4x16x4x4xf32>) -> tensor<4x16x4x4xf32> {
  ^bb0(%g: f32, %e: f32):
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %e, %zero : f32
    %s = arith.select %p, %g, %zero : f32
    nn.yield %s : f32
  }
  %dk = nn.conv_backward_weights %x, %dc {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, groups = 1 : i64, nn.backward, nn.layer = "conv"} : (tensor<4x16x4x4xf32>, tensor<4x16x4x4xf32>) -> tensor<16x16x1x1xf32>
  %u1 = sync.all_reduce %dw {members = ["fc.weight"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %u2 = sync.all_reduce %dk {members = ["conv.weight"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<16x16x1x1xf32>) -> tensor<16x16x1x1xf32>
  nn.update %w, %u1 : tensor<2x16xf32>, tensor<2x16xf32>
  nn.update %k, %u2 : tensor<16x16x1x1xf32>, tensor<16x16x1x1xf32>
}
}
