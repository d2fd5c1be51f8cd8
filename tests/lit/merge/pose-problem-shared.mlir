// Two products of one factor: its sum rides with the first and is reconstructed once.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem)' | FileCheck %s
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=*=factors},solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan)' | FileCheck %s --check-prefix=PLAN

// Two more ranks' shares: 2 (2 + 1/2) s of the first product and the sum, 2 s of the second.
// CHECK: sync.problem @merge layers ["w", "u", "b"]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, {{.*}}reconstruct = 5.0, {{.*}}>, #sync.factor_option<layer = 1, {{.*}}reconstruct = 2.0, {{.*}}>] piggybacks [2, 0]

// What the program computes from gathered factors is what the problem says.
// PLAN: plan.bucket 0 members ["w", "b"] by factors
// PLAN: plan.bucket 1 members ["u"] by factors
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 3, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  nn.step @fork batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %t = nn.target "t" : tensor<4x2xf32>
    %w = nn.parameter "w" at 0 : tensor<8x2xf32>
    %u = nn.parameter "u" at 64 : tensor<8x2xf32>
    %b = nn.parameter "b" at 128 : tensor<2xf32>
    %y = nn.matmul %x, %u bias %b {nn.layer = "fork", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    nn.output %y "y" : tensor<4x2xf32>
    %l, %d = nn.mean_squared_error %y, %t {nn.layer = "mse", nn.seconds = 1.0 : f64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
    %dw = nn.matmul %x, %d {transpose_a, nn.backward, nn.layer = "fc", nn.seconds = 2.0 : f64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %du = nn.matmul %x, %d {transpose_a, nn.backward, nn.layer = "fork", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %db = nn.reduce sum %d {axes = array<i64: 0>, nn.backward, nn.layer = "fork", nn.seconds = 0.5 : f64} : (tensor<4x2xf32>) -> tensor<2xf32>
    nn.update %w, %dw {nn.seconds = 1.0 : f64} : tensor<8x2xf32>, tensor<8x2xf32>
    nn.update %u, %du {nn.seconds = 1.0 : f64} : tensor<8x2xf32>, tensor<8x2xf32>
    nn.update %b, %db {nn.seconds = 1.0 : f64} : tensor<2xf32>, tensor<2xf32>
  }
}
