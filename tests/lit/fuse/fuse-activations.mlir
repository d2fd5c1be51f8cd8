// The pass `fuse-activations`: which relu joins the operation before it.
// RUN: syncline-opt %s -split-input-file -fuse-activations | FileCheck %s

// Forward and backward of batch_norm and relu, fused together; a mask connects them; times are added.
// CHECK-LABEL: nn.step @batchNorm
// CHECK: %[[Y:.*]], %[[M:.*]], %[[V:.*]], %[[WS:.*]] = nn.batch_norm {{.*}}{activation = #nn<activation relu>, {{.*}}nn.layer = "bn", nn.seconds = 3.000000e+00 : f64} {{.*}} -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xui8>)
// CHECK-NEXT: nn.output %[[Y]]
// CHECK-NEXT: nn.batch_norm_backward %{{.*}}, %{{.*}}, %[[M]], %[[V]], %{{.*}} workspace %[[WS]] {activation = #nn<activation relu>, {{.*}}nn.backward, nn.layer = "bn"}
// CHECK-NOT: relu
nn.step @batchNorm batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, nn.layer = "bn", nn.seconds = 1.0 : f64}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r = nn.unary relu %y {nn.layer = "relu", nn.seconds = 2.0 : f64} : tensor<2x3xf32>
  nn.output %r "r" : tensor<2x3xf32>
  %d = nn.unary_backward relu %r, %x {nn.backward, nn.layer = "relu"} : tensor<2x3xf32>
  %dx, %ds, %db = nn.batch_norm_backward %x, %s, %m, %v, %d {epsilon = 1.0e-5 : f64, nn.backward, nn.layer = "bn"}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

// A normalised value that is also read before relu stays visible.
// CHECK-LABEL: nn.step @twoReaders
// CHECK: nn.batch_norm
// CHECK: nn.unary relu
nn.step @twoReaders batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r = nn.unary relu %y : tensor<2x3xf32>
  nn.output %r "r" : tensor<2x3xf32>
  nn.output %y "y" : tensor<2x3xf32>
}

// -----

// A derivative of relu that somebody else reads cannot disappear into batch_norm's.
// CHECK-LABEL: nn.step @twoGradients
// CHECK: nn.unary relu
// CHECK: nn.unary_backward relu
// CHECK: nn.batch_norm_backward
nn.step @twoGradients batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r = nn.unary relu %y : tensor<2x3xf32>
  %d = nn.unary_backward relu %r, %x {nn.backward} : tensor<2x3xf32>
  nn.output %d "d" : tensor<2x3xf32>
  %dx, %ds, %db = nn.batch_norm_backward %x, %s, %m, %v, %d {epsilon = 1.0e-5 : f64, nn.backward}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

// Convolution and product: forward is fused, the derivative reads the result as before.
// CHECK-LABEL: nn.step @linear
// CHECK: %[[C:.*]] = nn.conv {{.*}}activation = #nn<activation relu>
// CHECK: %[[P:.*]] = nn.matmul {{.*}}activation = #nn<activation relu>
// CHECK-NOT: nn.unary relu
// CHECK: nn.unary_backward relu %[[C]]
// CHECK: nn.unary_backward relu %[[P]]
nn.step @linear batch 2 {
  %x = nn.input "x" : tensor<2x2x2xf32>
  %w = nn.parameter "w" at 0 : tensor<2x2x1xf32>
  %c = nn.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, pads_end = array<i64: 0>}
    : (tensor<2x2x2xf32>, tensor<2x2x1xf32>) -> tensor<2x2x2xf32>
  %r = nn.unary relu %c : tensor<2x2x2xf32>
  %p = nn.matmul %x, %r : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %q = nn.unary relu %p : tensor<2x2x2xf32>
  nn.output %q "q" : tensor<2x2x2xf32>
  %d = nn.unary_backward relu %r, %x {nn.backward} : tensor<2x2x2xf32>
  %e = nn.unary_backward relu %q, %x {nn.backward} : tensor<2x2x2xf32>
  nn.output %d "d" : tensor<2x2x2xf32>
  nn.output %e "e" : tensor<2x2x2xf32>
}
