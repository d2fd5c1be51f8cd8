// `clip-norm` is an attribute of the program, whatever its messages travel by.
// RUN: syncline-opt --lower-to-plan=clip-norm=0.5 --split-input-file %s | FileCheck %s
// RUN: syncline-opt --lower-to-plan --split-input-file %s | FileCheck --check-prefix=WITHOUT %s

// CHECK: plan.program @clipped ranks 2 batch 4 {{.*}} attributes {clip_norm = 5.000000e-01 : f64}
// WITHOUT: plan.program @clipped
// WITHOUT-NOT: clip_norm
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @clipped batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<2x8xf32>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    nn.output %y "y" : tensor<4x2xf32>
    %d = nn.matmul %y, %x {transpose_a, nn.backward} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %a = sync.all_reduce %d {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    nn.update %w, %a : tensor<2x8xf32>, tensor<2x8xf32>
  }
}

// -----

// CHECK: plan.program @sharded ranks 2 batch 4 {{.*}} attributes {clip_norm = 5.000000e-01 : f64}
// CHECK-NOT: plan.update
// WITHOUT: plan.program @sharded
// WITHOUT-NOT: clip_norm
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<"reduce-scatter", #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @sharded batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<2x8xf32>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    nn.output %y "y" : tensor<4x2xf32>
    %d = nn.matmul %y, %x {transpose_a, nn.backward} : (tensor<4x2xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %a = sync.all_reduce %d {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "reduce-scatter">} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    nn.update %w, %a : tensor<2x8xf32>, tensor<2x8xf32>
  }
}
