// The pass `fuse-pointwise`: which operations share a loop.
// RUN: syncline-opt %s -split-input-file -fuse-pointwise | FileCheck %s

// A chain becomes one loop of the last layer; times are added; constants of one value go inside.
// CHECK-LABEL: nn.step @chain
// CHECK: %[[A:.*]] = nn.input "a"
// CHECK: %[[B:.*]] = nn.input "b"
// CHECK-NEXT: %[[Y:.*]] = nn.pointwise %[[A]], %[[B]] {nn.layer = "relu", nn.seconds = 3.000000e+00 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[Q]] : f32
// CHECK-NEXT: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[S]], %[[HALF]] : f32
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[N:.*]] = arith.cmpf olt, %[[M]], %[[ZERO]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.select %[[N]], %[[ZERO]], %[[M]] : f32
// CHECK-NEXT: nn.yield %[[R]] : f32
// CHECK: nn.output %[[Y]]
nn.step @chain batch 2 {
  %a = nn.input "a" : tensor<2x3xf32>
  %b = nn.input "b" : tensor<2x3xf32>
  %half = nn.constant dense<0.5> : tensor<1xf32>
  %s = nn.binary add %a, %b {nn.layer = "add", nn.seconds = 1.0 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = nn.binary mul %s, %half {nn.layer = "mul", nn.seconds = 1.0 : f64} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %y = nn.unary relu %m {nn.layer = "relu", nn.seconds = 1.0 : f64} : tensor<2x3xf32>
  nn.output %y "y" : tensor<2x3xf32>
}

// -----

// A value that is read later too leaves the loop as a second result.
// CHECK-LABEL: nn.step @twoResults
// CHECK: %[[Y:.*]]:2 = nn.pointwise %{{.*}} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK: math.exp
// CHECK: nn.yield %[[S:.*]], %{{.*}} : f32, f32
// CHECK: nn.output %[[Y]]#1
// CHECK: nn.softmax %[[Y]]#0
nn.step @twoResults batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.unary sigmoid %x : tensor<2x3xf32>
  %y = nn.binary mul %x, %s : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  nn.output %y "y" : tensor<2x3xf32>
  %l = nn.softmax %s {axis = 1 : i64} : tensor<2x3xf32>
  nn.output %l "l" : tensor<2x3xf32>
}

// -----

// Two readers of one tensor share a loop, though neither reads the other.
// CHECK-LABEL: nn.step @siblings
// CHECK: nn.pointwise %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK-NOT: nn.pointwise
nn.step @siblings batch 2 {
  %a = nn.input "a" : tensor<2x3xf32>
  %b = nn.input "b" : tensor<2x3xf32>
  %d = nn.input "d" : tensor<2x3xf32>
  %da = nn.binary mul %d, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %db = nn.binary mul %d, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  nn.output %da "da" : tensor<2x3xf32>
  nn.output %db "db" : tensor<2x3xf32>
}

// -----

// Rule 1: what lies between reads the first, and the second reads what lies between.
// CHECK-LABEL: nn.step @order
// CHECK: nn.pointwise
// CHECK: nn.softmax
// CHECK: nn.pointwise
nn.step @order batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %a = nn.unary exp %x : tensor<2x3xf32>
  %b = nn.softmax %a {axis = 1 : i64} : tensor<2x3xf32>
  %c = nn.binary add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  nn.output %c "c" : tensor<2x3xf32>
}

// -----

// Rule 2: a gradient does not wait for a loop that comes later.
// CHECK-LABEL: nn.step @ready
// CHECK: %[[DW:.*]] = nn.pointwise
// CHECK: %[[S:.*]] = nn.softmax
// CHECK: nn.pointwise %[[DW]], %[[S]]
// CHECK: nn.update %{{.*}}, %[[DW]]
nn.step @ready batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<2x3xf32>
  %dw = nn.unary exp %x {nn.backward} : tensor<2x3xf32>
  %s = nn.softmax %x {axis = 1 : i64, nn.backward} : tensor<2x3xf32>
  %c = nn.binary add %dw, %s {nn.backward} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  nn.output %c "c" : tensor<2x3xf32>
  nn.update %w, %dw : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Rule 3: forward and backward do not mix, nor do shapes.
// CHECK-LABEL: nn.step @apart
// CHECK: nn.pointwise %{{.*}} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: nn.pointwise %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: nn.pointwise %{{.*}} {nn.backward} : (tensor<2x3xf32>) -> tensor<2x3xf32>
nn.step @apart batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %0 = nn.unary exp %s : tensor<3xf32>
  %1 = nn.binary mul %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = nn.unary neg %1 {nn.backward} : tensor<2x3xf32>
  nn.output %2 "y" : tensor<2x3xf32>
}

// -----

// Rule 4: a gate per channel would force both addends out of their blocked layout, so the sum stays apart...
// CHECK-LABEL: nn.step @keepFlat
// CHECK: nn.pointwise %{{.*}}, %{{.*}} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
// CHECK: nn.pointwise %{{.*}}, %{{.*}} : (tensor<2x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x4xf32>
nn.step @keepFlat batch 2 {
  %a = nn.input "a" : tensor<2x3x4x4xf32>
  %b = nn.input "b" : tensor<2x3x4x4xf32>
  %g = nn.input "g" : tensor<2x3x1x1xf32>
  %s = nn.binary add %a, %b : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %y = nn.binary mul %s, %g : (tensor<2x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  nn.output %y "y" : tensor<2x3x4x4xf32>
}

// -----

// ... but an activation before the gate costs no more in plain layout than its result would.
// CHECK-LABEL: nn.step @joinGate
// CHECK: nn.pointwise %{{.*}}, %{{.*}} : (tensor<2x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x4xf32>
// CHECK-NOT: nn.pointwise
nn.step @joinGate batch 2 {
  %a = nn.input "a" : tensor<2x3x4x4xf32>
  %g = nn.input "g" : tensor<2x3x1x1xf32>
  %s = nn.unary relu %a : tensor<2x3x4x4xf32>
  %y = nn.binary mul %s, %g : (tensor<2x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  nn.output %y "y" : tensor<2x3x4x4xf32>
}

// -----

// Rule 5: thirteen tensors are more than one loop reads.
// CHECK-LABEL: nn.step @manyInputs
// CHECK: nn.pointwise
// CHECK: nn.pointwise
// CHECK-NOT: nn.pointwise
nn.step @manyInputs batch 2 {
  %a = nn.input "a" : tensor<2xf32>
  %b = nn.input "b" : tensor<2xf32>
  %c = nn.input "c" : tensor<2xf32>
  %d = nn.input "d" : tensor<2xf32>
  %e = nn.input "e" : tensor<2xf32>
  %f = nn.input "f" : tensor<2xf32>
  %g = nn.input "g" : tensor<2xf32>
  %h = nn.input "h" : tensor<2xf32>
  %i = nn.input "i" : tensor<2xf32>
  %j = nn.input "j" : tensor<2xf32>
  %k = nn.input "k" : tensor<2xf32>
  %l = nn.input "l" : tensor<2xf32>
  %m = nn.input "m" : tensor<2xf32>
  %0 = nn.binary add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = nn.binary add %0, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = nn.binary add %1, %d : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = nn.binary add %2, %e : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = nn.binary add %3, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = nn.binary add %4, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = nn.binary add %5, %h : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = nn.binary add %6, %i : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %8 = nn.binary add %7, %j : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %9 = nn.binary add %8, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = nn.binary add %9, %l : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %11 = nn.binary add %10, %m : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  nn.output %11 "y" : tensor<2xf32>
}

// -----

// Operations that nobody reads make no loop.
// CHECK-LABEL: nn.step @dead
// CHECK-NOT: nn.pointwise
nn.step @dead batch 2 {
  %x = nn.input "x" : tensor<2xf32>
  %y = nn.unary exp %x : tensor<2xf32>
  %z = nn.unary exp %y : tensor<2xf32>
}
