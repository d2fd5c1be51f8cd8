// Images that are resized stay in bf16; resized channels are computed in f32.
// RUN: syncline-opt --lower-to-plan --check-plan %s | FileCheck %s

module attributes {nn.precision = "bf16", cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// CHECK-LABEL: plan.program @resized
nn.step @resized batch 4 {
  %x = nn.input "x" : tensor<4x16x4x4xf32>
  %t = nn.target "label" : tensor<4xi64>
  %k = nn.state "conv.weight" at 0 : tensor<16x16x1x1xf32>
  %w = nn.parameter "fc.weight" at 1024 : tensor<2x9xf32>

  // CHECK: plan.tensor "conv" in arena at {{[0-9]+}} reserve 2048 live {{.*}} {rounded}
  %c = nn.conv %x, %k {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "conv"} : (tensor<4x16x4x4xf32>, tensor<16x16x1x1xf32>) -> tensor<4x16x4x4xf32>
  // CHECK: plan.tensor "up" in arena at {{[0-9]+}} reserve 8192 live {{.*}} {rounded} : memref<4x16x8x8xf32>
  %u = nn.resample %c {axes = array<i64: 2, 3>, coordinates = array<i64: 2, -1, 4, 2, -1, 4>, filter = 4 : i64, cubic_coefficient = 0.0 : f64, nn.layer = "up"} : (tensor<4x16x4x4xf32>) -> tensor<4x16x8x8xf32>
  // CHECK: plan.tensor "mixed" in arena at {{[0-9]+}} reserve 16384 live {{\[[0-9]+, [0-9]+\]}} : memref<4x9x8x8xf32>
  %m = nn.resample %u {axes = array<i64: 1>, coordinates = array<i64: 16, 7, 9>, filter = 4 : i64, cubic_coefficient = 0.0 : f64, nn.layer = "mixed"} : (tensor<4x16x8x8xf32>) -> tensor<4x9x8x8xf32>
  %a = nn.average_pool %m {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "mean"} : (tensor<4x9x8x8xf32>) -> tensor<4x9x1x1xf32>
  %f = nn.reshape %a {nn.layer = "flatten"} : (tensor<4x9x1x1xf32>) -> tensor<4x9xf32>
  %y = nn.matmul %f, %w {transpose_b, nn.layer = "fc"} : (tensor<4x9xf32>, tensor<2x9xf32>) -> tensor<4x2xf32>
  nn.output %y "logits" : tensor<4x2xf32>
  %l, %d = nn.cross_entropy %y, %t {nn.layer = "loss"} : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %dw = nn.matmul %d, %f {transpose_a, nn.backward, nn.layer = "fc"} : (tensor<4x2xf32>, tensor<4x9xf32>) -> tensor<2x9xf32>
  %u1 = sync.all_reduce %dw {members = ["fc.weight"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x9xf32>) -> tensor<2x9xf32>
  nn.update %w, %u1 : tensor<2x9xf32>, tensor<2x9xf32>
}
}
