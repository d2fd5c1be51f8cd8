// Derivatives of elementwise operations.
// RUN: syncline-opt %s -split-input-file -differentiate | FileCheck %s

// A derivative refers to the result or to the operand, as NN21 says, and keeps alpha and beta.
// CHECK-LABEL: nn.step @fromResult
// CHECK: %[[R:.*]] = nn.unary relu
// CHECK: %[[Y:.*]] = nn.unary clip
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[D:.*]] = nn.unary_backward clip %[[Y]], %[[DY]] {beta = 6.000000e+00 : f64, nn.backward}
// CHECK-NEXT: nn.unary_backward relu %[[R]], %[[D]] {nn.backward}
nn.step @fromResult batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %0 = nn.unary relu %x : tensor<2x3xf32>
  %y = nn.unary clip %0 {alpha = 0.0 : f64, beta = 6.0 : f64} : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @fromOperand
// CHECK: %[[X:.*]] = nn.parameter
// CHECK: %[[S:.*]] = nn.unary hard_swish
// CHECK: %[[D:.*]] = nn.unary_backward log %[[S]], %{{.*}} {nn.backward}
// CHECK-NEXT: nn.unary_backward hard_swish %[[X]], %[[D]] {nn.backward}
nn.step @fromOperand batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %0 = nn.unary hard_swish %x : tensor<2x3xf32>
  %y = nn.unary log %0 : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// NN20c: what masks has no derivative, so that nothing is computed for c or what it is made of.
// CHECK-LABEL: nn.step @mask
// CHECK: %[[C:.*]] = nn.unary clip
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: nn.binary mask %[[DY]], %[[C]] {nn.backward}
// CHECK-NOT: nn.unary_backward
// CHECK: nn.update
nn.step @mask batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %c = nn.unary clip %x {alpha = 0.0 : f64, beta = 1.0 : f64} : tensor<2x3xf32>
  %y = nn.binary mask %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// NN21e: what is rounded has no derivative, so that nothing is computed for it or what it is of.
// CHECK-LABEL: nn.step @rounding
// CHECK: nn.unary round
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK-NOT: nn.unary_backward
// CHECK: nn.binary mul
// CHECK: nn.update
nn.step @rounding batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %e = nn.unary exp %x : tensor<2x3xf32>
  %r = nn.unary round %e : tensor<2x3xf32>
  %y = nn.binary mul %x, %r : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Equal operands share the gradient of the larger one, and that of the smaller one.
// CHECK-LABEL: nn.step @extremes
// CHECK: %[[X:.*]] = nn.parameter
// CHECK: %[[M:.*]] = nn.binary max %[[X]], %[[Z:.*]] :
// CHECK: nn.binary tie_share %[[M]], %[[X]]
// CHECK: nn.binary tie_share %[[X]], %[[M]]
// CHECK: nn.binary tie_share %[[X]], %[[Z]]
// CHECK: nn.binary tie_share %[[Z]], %[[X]]
// CHECK-NOT: nn.binary not_less
nn.step @extremes batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %z = nn.parameter "z" at 24 : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %m = nn.binary max %x, %z : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %y = nn.binary min %x, %m : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Beside one number an operand gets the gradient where they are equal, as PyTorch's clamp has it.
// CHECK-LABEL: nn.step @bounds
// CHECK: %[[X:.*]] = nn.parameter
// CHECK-DAG: %[[LOW:.*]] = nn.constant dense<5.000000e-01>
// CHECK-DAG: %[[HIGH:.*]] = nn.constant dense<2.000000e+00>
// CHECK: %[[M:.*]] = nn.binary max
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[LESS:.*]] = nn.binary not_less %[[HIGH]], %[[M]]
// CHECK: nn.binary mask %[[DY]], %[[LESS]]
// CHECK: nn.binary not_less %[[X]], %[[LOW]]
// CHECK-NOT: nn.binary tie_share
nn.step @bounds batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %low = nn.constant dense<0.5> : tensor<f32>
  %high = nn.constant dense<2.0> : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %m = nn.binary max %low, %x : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = nn.binary min %m, %high : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// Negation keeps nothing alive.
// CHECK-LABEL: nn.step @neg
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: nn.unary neg %[[DY]] {nn.backward}
nn.step @neg batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.unary neg %x : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// What was broadcast is summed over.
// CHECK-LABEL: nn.step @add
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK-NEXT: nn.loss
// CHECK-NEXT: nn.broadcast %[[DY]] {nn.backward, nn.layer = "x"}
// CHECK-NEXT: nn.reduce sum %[[DY]] {axes = array<i64: 0>, nn.backward} : (tensor<2x3xf32>) -> tensor<3xf32>
nn.step @add batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.binary add %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @sub
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[N:.*]] = nn.unary neg %[[DY]] {nn.backward}
// CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[N]] {axes = array<i64: 0, 2>, nn.backward} : (tensor<2x3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: nn.reshape %[[SUM]] {nn.backward} : (tensor<3xf32>) -> tensor<3x1xf32>
nn.step @sub batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3x4xf32>
  %b = nn.parameter "b" at 64 : tensor<3x1xf32>
  %t = nn.target "t" : tensor<2x3x4xf32>
  %y = nn.binary sub %x, %b : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<f32>, tensor<2x3x4xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// The two products stay neighbours, to become one loop.
// CHECK-LABEL: nn.step @mul
// CHECK: %[[X:.*]] = nn.parameter "x"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[DX:.*]] = nn.binary mul %[[DY]], %[[B]] {nn.backward}
// CHECK-NEXT: %[[P:.*]] = nn.binary mul %[[DY]], %[[X]] {nn.backward}
// CHECK-NEXT: nn.reduce sum %[[P]] {axes = array<i64: 0>, nn.backward} : (tensor<2x3xf32>) -> tensor<1x3xf32>
nn.step @mul batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<1x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.binary mul %x, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// y = x / b: dx = dy / b, db = -y·dx.
// CHECK-LABEL: nn.step @div
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK: %[[Y:.*]] = nn.binary div
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[DX:.*]] = nn.binary div %[[DY]], %[[B]] {nn.backward}
// CHECK: %[[P:.*]] = nn.binary mul %[[DX]], %[[Y]] {nn.backward}
// CHECK-NEXT: nn.unary neg %[[P]] {nn.backward}
nn.step @div batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.binary div %x, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @prelu
// CHECK: %[[X:.*]] = nn.parameter "x"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK: %{{.*}}, %[[DY:.*]] = nn.mean_squared_error
// CHECK: %[[DA:.*]], %[[DB:.*]] = nn.prelu_backward %[[X]], %[[B]], %[[DY]] {nn.backward}
// CHECK-NEXT: nn.reduce sum %[[DB]] {axes = array<i64: 0>, nn.backward}
nn.step @prelu batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %y = nn.binary prelu %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

// CHECK-LABEL: nn.step @broadcast
// CHECK: %[[SUM:.*]] = nn.reduce sum %{{.*}} {axes = array<i64: 0, 2>, nn.backward} : (tensor<2x3x4xf32>) -> tensor<3xf32>
// CHECK-NEXT: nn.reshape %[[SUM]] {nn.backward} : (tensor<3xf32>) -> tensor<3x1xf32>
nn.step @broadcast batch 2 {
  %x = nn.parameter "x" at 0 : tensor<3x1xf32>
  %t = nn.target "t" : tensor<2x3x4xf32>
  %y = nn.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<f32>, tensor<2x3x4xf32>)
  nn.loss %l : tensor<f32>
}
