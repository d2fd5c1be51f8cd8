// `accumulate` is an attribute of the program, which is otherwise that of one micro-batch.
// RUN: syncline-opt --lower-to-plan=accumulate=4 %s | FileCheck %s
// RUN: syncline-opt --lower-to-plan %s | FileCheck --check-prefix=WITHOUT %s

// CHECK: plan.program @summed ranks 2 batch 4 {{.*}} attributes {accumulate = 4 : i64}
// WITHOUT: plan.program @summed
// WITHOUT-NOT: accumulate
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @summed batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<2x8xf32>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    nn.output %y "y" : tensor<4x2xf32>
    %d = nn.matmul %y, %x {transpose_a, nn.backward} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %a = sync.all_reduce %d {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    nn.update %w, %a : tensor<2x8xf32>, tensor<2x8xf32>
  }
}
