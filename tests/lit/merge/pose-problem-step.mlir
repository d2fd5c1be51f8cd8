// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem)' | FileCheck %s
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=w=reduce-scatter})' | FileCheck %s --check-prefix=SHARD
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=w=factors,b=factors},solve-merge,check-solutions)' | FileCheck %s --check-prefix=RIDE
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{overlap=step})' | FileCheck %s --check-prefix=TAILS
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=b=factors})' 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=v=factors})' 2>&1 | FileCheck %s --check-prefix=NONE

// Factors of a weight are 160 bytes a rank, 2 (1 + 160/2) s to gather over 3 ranks; two more ranks' shares of its product and of its
// bias's sum take 2 (2 + 1/2) s. The bias may ride.
// CHECK: sync.problem @merge layers ["w", "b", "v"] bytes [64, 8, 16] ready <[3.0, 3.5, 7.5]>
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 162.0, reconstruct = 5.0, traffic = 640.0, factorBytes = 160>] piggybacks [1, 0] forward_end 1.0{{.*}} backward_end 7.5{{.*}} updates 8.5

// A reduce-scatter writes the parameter, so it waits for its last reader, at 7.5 s; its message also updates a third of it:
// 8 s / 64 B / 3 more for every byte.
// SHARD: layers ["b", "w", "v"] bytes [8, 64, 16] ready <[3.5, 7.5, 7.5]>
// SHARD-SAME: #sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 4.0, b = 0.87{{[0-9]*}}>, traffic = {{.*}}>]>] only [1, 2, 1]
// SHARD-SAME: updates 5.0

// The forward pass reads "w" from its beginning, and nothing else. What is ready last is updated first.
// TAILS: forward_end 1.0{{.*}} backward_end 7.5{{.*}} updates 8.5{{.*}} tails <[1.0, 9.0, 9.25]> own_updates <[8.0, 0.25, 0.25]>

// A bias that must go by factors rides.
// RIDE: only [0, 0, 1]
// RIDE: scheme = factors, {{.*}} piggybacks [1] finish

// ALONE: layer 'b' cannot travel by 'factors': it is computed from the factors of 'w', which need not travel so
// NONE: layer 'v' cannot travel by 'factors': its gradient is no product of two factors that sums over samples
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 3, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  nn.step @fc batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %dy = nn.input "dy" : tensor<4x2xf32>
    %w = nn.parameter "w" at 0 : tensor<8x2xf32>
    %b = nn.parameter "b" at 64 : tensor<2xf32>
    %v = nn.parameter "v" at 128 : tensor<4xf32>
    %y = nn.matmul %x, %w {nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %dw = nn.matmul %x, %dy {transpose_a, nn.backward, nn.seconds = 2.0 : f64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    %db = nn.reduce sum %dy {axes = array<i64: 0>, nn.backward, nn.seconds = 0.5 : f64} : (tensor<4x2xf32>) -> tensor<2xf32>
    %dx = nn.matmul %dy, %w {transpose_b, nn.backward, nn.seconds = 4.0 : f64} : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
    %dv = nn.reduce sum %dx {axes = array<i64: 1>, nn.backward, nn.seconds = 0.0 : f64} : (tensor<4x8xf32>) -> tensor<4xf32>
    nn.update %w, %dw {nn.seconds = 8.0 : f64} : tensor<8x2xf32>, tensor<8x2xf32>
    nn.update %b, %db {nn.seconds = 0.25 : f64} : tensor<2xf32>, tensor<2xf32>
    nn.update %v, %dv {nn.seconds = 0.25 : f64} : tensor<4xf32>, tensor<4xf32>
  }
}
