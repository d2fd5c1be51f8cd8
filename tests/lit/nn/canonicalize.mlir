// Cleaning up: reshapes that do nothing, chains of them, and what nobody reads.
// RUN: syncline-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: nn.step @reshapes
// CHECK: %[[X:.*]] = nn.input
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<24xf32>
// CHECK-NEXT: nn.output %[[Y]]
// CHECK-NEXT: nn.output %[[X]]
nn.step @reshapes batch 2 {
  %x = nn.input "x" : tensor<2x3x4xf32>
  %0 = nn.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = nn.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = nn.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %3 = nn.unary relu %2 : tensor<2x3x4xf32>
  nn.output %1 "flat" : tensor<24xf32>
  nn.output %2 "same" : tensor<2x3x4xf32>
}

// A body keeps its constants.
// CHECK-LABEL: nn.step @bodies
// CHECK: nn.pointwise
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.constant
nn.step @bodies batch 2 {
  %x = nn.input "x" : tensor<2xf32>
  %y = nn.pointwise %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%e: f32):
    %c = arith.constant 2.0 : f32
    %p = arith.mulf %e, %c : f32
    nn.yield %p : f32
  }
  nn.output %y "y" : tensor<2xf32>
}
