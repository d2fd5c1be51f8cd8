// A bias's gradient that is a reshape of the sum, as a bias of [2, 1, 1] has it: the sum rides with its time.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem)' | FileCheck %s
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=*=factors},solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan)' | FileCheck %s --check-prefix=PLAN

// Two more ranks' shares take 2 (2 + 1/2) s.
// CHECK: sync.problem @merge layers ["w", "b"]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, {{.*}}reconstruct = 5.0, {{.*}}>] piggybacks [1, 0]

// PLAN: plan.bucket 0 members ["w", "b"] by factors
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 3, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  nn.step @fc batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %t = nn.target "t" : tensor<4x2xf32>
    %w = nn.parameter "w" at 0 : tensor<8x2xf32>
    %b = nn.parameter "b" at 64 : tensor<2xf32>
    %y = nn.matmul %x, %w bias %b {nn.layer = "fc", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    nn.output %y "y" : tensor<4x2xf32>
    %l, %d = nn.mean_squared_error %y, %t {nn.layer = "mse", nn.seconds = 1.0 : f64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
    %dw = nn.matmul %x, %d {transpose_a, nn.backward, nn.layer = "fc", nn.seconds = 2.0 : f64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %s = nn.reduce sum %d {axes = array<i64: 0>, nn.backward, nn.layer = "fc", nn.seconds = 0.5 : f64} : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %db = nn.reshape %s {nn.backward, nn.layer = "fc", nn.seconds = 0.0 : f64} : (tensor<1x2xf32>) -> tensor<2xf32>
    nn.update %w, %dw {nn.seconds = 1.0 : f64} : tensor<8x2xf32>, tensor<8x2xf32>
    nn.update %b, %db {nn.seconds = 1.0 : f64} : tensor<2xf32>, tensor<2xf32>
  }
}
