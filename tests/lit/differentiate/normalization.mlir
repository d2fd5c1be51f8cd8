// Derivatives of normalisations, softmax and dropout.
// RUN: syncline-opt %s -differentiate | FileCheck %s

// CHECK-LABEL: nn.step @all
// CHECK: %[[N:.*]], %[[M:.*]], %[[V:.*]] = nn.batch_norm %[[X:[a-z0-9]*]], %[[S:[a-z0-9]*]],
// CHECK: %[[R:.*]] = nn.lrn
// CHECK: %[[D:.*]], %[[MASK:.*]] = nn.dropout
// CHECK: %[[Y:.*]] = nn.softmax
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[D3:.*]] = nn.softmax_backward %[[Y]], %[[DY]] {axis = 1 : i64, logarithm, nn.backward, nn.layer = "soft"}
// CHECK-NEXT: %[[D2:.*]] = nn.dropout_backward %[[D3]], %[[MASK]] {nn.backward, nn.layer = "drop", ratio = 2.500000e-01 : f64}
// CHECK-NEXT: %[[D1:.*]] = nn.lrn_backward %[[N]], %[[D2]] {alpha = 1.000000e-01 : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, nn.backward, nn.layer = "lrn", size = 3 : i64}
// CHECK-NEXT: %[[DX:.*]], %[[DS:.*]], %[[DB:.*]] = nn.batch_norm_backward %[[X]], %[[S]], %[[M]], %[[V]], %[[D1]] {epsilon = 1.000000e-05 : f64, nn.backward, nn.layer = "bn"}
// CHECK-NEXT: nn.update %{{.*}}, %[[DX]]
// CHECK-NEXT: nn.update %[[S]], %[[DS]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DB]]
nn.step @all batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  %b = nn.parameter "b" at 0 : tensor<3xf32>
  %rm = nn.state "rm" at 0 : tensor<3xf32>
  %rv = nn.state "rv" at 0 : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %n, %m, %v = nn.batch_norm %x, %s, %b, %rm, %rv {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, nn.layer = "bn"}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r = nn.lrn %n {size = 3 : i64, alpha = 0.1 : f64, beta = 0.75 : f64, bias = 1.0 : f64, nn.layer = "lrn"} : tensor<2x3xf32>
  %d, %mask = nn.dropout %r {ratio = 0.25 : f64, nn.layer = "drop"} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
  %y = nn.softmax %d {axis = 1 : i64, logarithm, nn.layer = "soft"} : tensor<2x3xf32>
  %l, %dy = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// Layer normalisation keeps x alone; without a shift there is no gradient of one.
// CHECK-LABEL: nn.step @layers
// CHECK: nn.layer_norm %[[X:.*]], %[[S:.*]] shift
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[DX:.*]], %[[DS:.*]], %[[DB:.*]] = nn.layer_norm_backward %[[X]], %[[S]], %{{.*}} {epsilon = 1.000000e-05 : f64, nn.backward, nn.layer = "ln"}
// CHECK: nn.update %{{.*}}, %[[DS]]
// CHECK: nn.update %{{.*}}, %[[DB]]
nn.step @layers batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  %b = nn.parameter "b" at 0 : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %n = nn.layer_norm %x, %s shift %b {epsilon = 1.0e-5 : f64, nn.layer = "ln"} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %l, %dy = nn.mean_squared_error %n, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}
