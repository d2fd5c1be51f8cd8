// The kernels of a step: eager ones take a fused loop apart, fused ones do not.
// RUN: syncline-opt %s -o /dev/null -pass-pipeline='builtin.module(nn.step(print-kernels))' | FileCheck %s --check-prefix=EAGER
// RUN: syncline-opt %s -o /dev/null -pass-pipeline='builtin.module(nn.step(print-kernels{like=compiled}))' | FileCheck %s --check-prefix=FUSED
// RUN: not syncline-opt %s -o /dev/null -pass-pipeline='builtin.module(nn.step(print-kernels{like=mxnet}))' 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: expected 'like' as one of #cluster.kernels, got 'mxnet'

// In bf16 a product's operands have two bytes an element: (32 + 16 + 8) * 2. Its parameter is rounded by a
// kernel of its own, and relu is one too. Rows of two elements are no whole 16 bytes.
// EAGER-DAG: 1 product 128 112 4 2 8 1 1 1 0 0 1
// EAGER-DAG: 1 pointwise 0 96 1 1 1 1 1 1 0 0 0
// EAGER-DAG: 2 pointwise 0 32 1 1 1 1 1 1 0 0 0
// EAGER-DAG: 1 pointwise 0 48 1 1 1 1 1 1 0 0 0
// FUSED-DAG: 1 product 128 112 4 2 8 1 1 1 0 0 1
// FUSED-DAG: 1 pointwise 0 96 1 1 1 1 1 0 0 0 0
// FUSED-DAG: 1 pointwise 0 64 1 1 1 1 1 1 0 0 0
module attributes {nn.precision = "bf16"} {
  nn.step @step batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<2x8xf32>
    %y = nn.matmul %x, %w {activation = #nn<activation relu>, transpose_b}
      : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    // An addition reads two values and writes one; of its sum, a sigmoid reads and writes one, and
    // nothing in between. The sum leaves the loop.
    %s, %t = nn.pointwise %y, %y : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      %n = arith.negf %sum : f32
      %e = math.exp %n : f32
      nn.yield %sum, %e : f32, f32
    }
  }
}
