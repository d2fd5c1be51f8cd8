// RUN: syncline-opt %s --split-input-file --pass-pipeline='builtin.module(nn.step(insert-gradients),form-buckets)' | FileCheck %s

// A bucket takes its members' gradients, with its message's scheme and channel, and stands before every update.

// CHECK-LABEL: nn.step @two
// CHECK: %[[W:.*]] = nn.parameter "w"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK-NOT: sync.gradient
// CHECK: %[[AGREED:.*]]:2 = sync.all_reduce %{{.*}}, %{{.*}} {bucket = 0 : i64, channel = 2 : i64, members = ["b", "w"], scheme = #cluster<scheme tree>}
// CHECK-NEXT: nn.update %[[W]], %[[AGREED]]#1
// CHECK-NEXT: nn.update %[[B]], %[[AGREED]]#0
sync.problem @merge layers ["b", "w"] bytes [8, 16] ready <[0.5, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 3.0>, <tree, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "single" messages [#sync.message<layers = [0, 1], scheme = tree, merge_class = 0, bytes = 24, channel = 2, ready = 1.0, start = 1.0, end = 2.0>]
  finish 2.0 bound 0.0
nn.step @two batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  %b = nn.parameter "b" at 64 : tensor<2xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
  nn.update %b, %b : tensor<2xf32>, tensor<2xf32>
}

// -----

// With factors, the product's operands are gathered, and product and bias are computed from all
// ranks' samples; the operations on one rank's samples disappear. Copies of the result are made
// again, and times grow with the samples.

// CHECK-LABEL: nn.step @factors
// CHECK-DAG: %[[X:.*]] = nn.input "x"
// CHECK-DAG: %[[DY:.*]] = nn.input "dy"
// CHECK-DAG: %[[D:.*]] = nn.reshape %[[DY]]
// CHECK-NOT: nn.matmul
// CHECK: %[[V:.*]] = sync.all_reduce %{{.*}} {bucket = 0
// CHECK: %[[ALL:.*]]:2 = sync.all_gather %[[D]], %[[X]] {bucket = 1 : i64, channel = 1 : i64, members = ["w", "b"]} : (tensor<12x2xf32>, tensor<12x8xf32>) -> (tensor<36x2xf32>, tensor<36x8xf32>)
// CHECK-NEXT: %[[P:.*]] = nn.matmul %[[ALL]]#0, %[[ALL]]#1 {nn.backward, nn.layer = "fc", nn.seconds = 3.000000e+00 : f64, transpose_a} : (tensor<36x2xf32>, tensor<36x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[DW:.*]] = nn.transpose %[[P]] {nn.seconds = 5.000000e-01 : f64, permutation = array<i64: 1, 0>} : (tensor<2x8xf32>) -> tensor<8x2xf32>
// CHECK-NEXT: %[[DYS:.*]] = nn.reshape %[[ALL]]#0 {nn.layer = "fc"} : (tensor<36x2xf32>) -> tensor<12x3x2xf32>
// CHECK-NEXT: %[[DB:.*]] = nn.reduce sum %[[DYS]] {axes = array<i64: 0, 1>, nn.layer = "fc"} : (tensor<12x3x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: nn.update %{{.*}}, %[[V]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DW]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DB]]
module attributes {cluster.spec = #cluster.spec<name = "three", ranks = 3, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
sync.problem @merge layers ["v", "w", "b"] bytes [8, 64, 8] ready <[0.5, 1.0, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 3.0>] piggybacks [2, 1]
  forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "sfb" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 8, ready = 0.5, start = 0.5, end = 1.5>,
  #sync.message<layers = [1], scheme = factors, bytes = 64, channel = 1, ready = 1.0, start = 1.5, end = 2.0, reconstructed = 2.1>] piggybacks [2]
  finish 2.1 bound 0.0
nn.step @factors batch 4 {
  %x = nn.input "x" : tensor<12x8xf32>
  %dy = nn.input "dy" : tensor<4x3x2xf32>
  %v = nn.parameter "v" at 0 : tensor<2xf32>
  %w = nn.parameter "w" at 64 : tensor<8x2xf32>
  %b = nn.parameter "b" at 128 : tensor<2xf32>
  %d = nn.reshape %dy : (tensor<4x3x2xf32>) -> tensor<12x2xf32>
  %p = nn.matmul %d, %x {transpose_a, nn.backward, nn.layer = "fc", nn.seconds = 1.0 : f64} : (tensor<12x2xf32>, tensor<12x8xf32>) -> tensor<2x8xf32>
  %dw = nn.transpose %p {permutation = array<i64: 1, 0>, nn.seconds = 0.5 : f64} : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %db = nn.reduce sum %dy {axes = array<i64: 0, 1>, nn.layer = "fc"} : (tensor<4x3x2xf32>) -> tensor<2xf32>
  nn.update %v, %v : tensor<2xf32>, tensor<2xf32>
  nn.update %w, %dw : tensor<8x2xf32>, tensor<8x2xf32>
  nn.update %b, %db : tensor<2xf32>, tensor<2xf32>
}
}

// -----

// A convolution's bias that rides comes from the same operation again; one that travels otherwise stays this rank's: a sum.

// CHECK-LABEL: nn.step @convolutions
// CHECK: %[[X:.*]] = nn.input "x"
// CHECK: %[[DY:.*]] = nn.input "dy"
// CHECK-NOT: nn.conv_backward_weights
// CHECK: %[[DB:.*]] = nn.reduce sum %[[DY]] {axes = array<i64: 0, 2>, nn.backward, nn.layer = "own"} : (tensor<4x4x3xf32>) -> tensor<4xf32>
// CHECK: %[[ALL:.*]]:2 = sync.all_gather %[[X]], %[[DY]] {{{.*}}members = ["w", "b"]
// CHECK-NEXT: %[[DW:.*]], %[[DBS:.*]] = nn.conv_backward_weights %[[ALL]]#0, %[[ALL]]#1 {{{.*}}groups = 2 : i64{{.*}}} : (tensor<8x2x6xf32>, tensor<8x4x3xf32>) -> (tensor<4x1x3xf32>, tensor<4xf32>)
// CHECK: %[[OWN:.*]]:2 = sync.all_gather %[[X]], %[[DY]] {{{.*}}members = ["v"]
// CHECK-NEXT: %[[DV:.*]] = nn.conv_backward_weights %[[OWN]]#0, %[[OWN]]#1 {{{.*}}} : (tensor<8x2x6xf32>, tensor<8x4x3xf32>) -> tensor<4x2x3xf32>
// CHECK: %[[DA:.*]] = sync.all_reduce %[[DB]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DW]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DBS]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DV]]
// CHECK-NEXT: nn.update %{{.*}}, %[[DA]]
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
sync.problem @merge layers ["w", "b", "v", "a"] bytes [48, 16, 96, 16] ready <[1.0, 1.0, 1.0, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 0.0, traffic = 3.0>, #sync.factor_option<layer = 2, scheme = factors, seconds = 1.0, reconstruct = 0.0, traffic = 3.0>]
  piggybacks [1, 0, 3, 2] forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "sfb" messages [#sync.message<layers = [0], scheme = factors, bytes = 48, ready = 1.0, start = 1.0, end = 2.0>,
  #sync.message<layers = [2], scheme = factors, bytes = 96, ready = 1.0, start = 2.0, end = 3.0>,
  #sync.message<layers = [3], scheme = ring, merge_class = 0, bytes = 16, ready = 1.0, start = 3.0, end = 4.0>] piggybacks [1] finish 4.0 bound 0.0
nn.step @convolutions batch 4 {
  %x = nn.input "x" : tensor<4x2x6xf32>
  %dy = nn.input "dy" : tensor<4x4x3xf32>
  %w = nn.parameter "w" at 0 : tensor<4x1x3xf32>
  %b = nn.parameter "b" at 64 : tensor<4xf32>
  %v = nn.parameter "v" at 128 : tensor<4x2x3xf32>
  %a = nn.parameter "a" at 256 : tensor<4xf32>
  %dw, %db = nn.conv_backward_weights %x, %dy {strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 1>, pads_end = array<i64: 0>,
    groups = 2 : i64, nn.backward, nn.layer = "grouped"} : (tensor<4x2x6xf32>, tensor<4x4x3xf32>) -> (tensor<4x1x3xf32>, tensor<4xf32>)
  %dv, %da = nn.conv_backward_weights %x, %dy {strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 1>, pads_end = array<i64: 0>,
    nn.backward, nn.layer = "own", nn.seconds = 1.0 : f64} : (tensor<4x2x6xf32>, tensor<4x4x3xf32>) -> (tensor<4x2x3xf32>, tensor<4xf32>)
  nn.update %w, %dw : tensor<4x1x3xf32>, tensor<4x1x3xf32>
  nn.update %b, %db : tensor<4xf32>, tensor<4xf32>
  nn.update %v, %dv : tensor<4x2x3xf32>, tensor<4x2x3xf32>
  nn.update %a, %da : tensor<4xf32>, tensor<4xf32>
}
}
