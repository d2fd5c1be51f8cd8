// Messages that are not simply sums: when they leave, what lives until they arrive, what follows.
// RUN: syncline-opt --lower-to-plan --check-plan --split-input-file %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// Factors are gathered as soon as both exist, in the channel's order. The gradient is computed once
// they have arrived.
// CHECK-LABEL: plan.program @factors ranks 2 batch 4
nn.step @factors batch 4 {
  // CHECK: [[X:%.+]] = plan.tensor "x" in input
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %w = nn.parameter "w" at 0 : tensor<2x8xf32>
  %b = nn.parameter "b" at 64 : tensor<2xf32>
  %v = nn.parameter "v" at 128 : tensor<2x2xf32>
  // A gradient that is computed from factors has its place like any other.
  // CHECK: [[DV:%.+]] = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64}
  // CHECK: [[DW:%.+]] = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64}
  // CHECK: [[DB:%.+]] = plan.tensor "b" in gradients at 128 reserve 64 {bucket = 1 : i64}
  // Factors live until they have arrived (9), room for all ranks' from the gather (6) to the last reader.
  // CHECK: [[H:%.+]] = plan.tensor "fc1" in arena at {{[0-9]+}} reserve 64 live [0, 4]
  // CHECK: [[DY:%.+]] = plan.tensor "mse.dy" in arena at {{[0-9]+}} reserve 64 live [2, 4]
  // CHECK: [[DH:%.+]] = plan.tensor "fc2.grad" in arena at {{[0-9]+}} reserve 64 live [3, 9]
  // CHECK: [[XS:%.+]] = plan.tensor "x.gathered" in arena at {{[0-9]+}} reserve 256 live [6, 10]
  // CHECK: [[DHS:%.+]] = plan.tensor "fc2.grad.gathered" in arena at {{[0-9]+}} reserve 64 live [6, 11]
  // CHECK: plan.bucket 0 members ["v"] by tree
  // CHECK: plan.bucket 1 members ["w", "b"] by factors channel 0 at 64 extent 128 bytes 72
  %h = nn.matmul %x, %w {transpose_b, nn.layer = "fc1"} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %h, %v bias %b {transpose_b, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t {nn.layer = "mse"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // The factors exist here, but bucket 0 is before theirs on the channel.
  // CHECK: plan.phase backward
  // CHECK-NEXT: plan.call matmul "fc2" {{.*}} outs([[DH]]
  %dh = nn.matmul %d, %v {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: plan.call matmul "fc2" {{.*}} outs([[DV]]
  // CHECK-NEXT: plan.issue 0
  // CHECK-NEXT: plan.gather 1 ins([[X]], [[DH]] : memref<4x8xf32>, memref<4x2xf32>) outs([[XS]], [[DHS]] : memref<8x8xf32>, memref<8x2xf32>)
  %dv = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %av = sync.all_reduce %dv {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme tree>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %xs, %dhs = sync.all_gather %x, %dh {members = ["w", "b"], bucket = 1 : i64, channel = 0 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> (tensor<8x8xf32>, tensor<8x2xf32>)
  %aw = nn.matmul %dhs, %xs {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<8x2xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %ab = nn.reduce sum %dhs {axes = array<i64: 0>, nn.backward, nn.layer = "fc1"} : (tensor<8x2xf32>) -> tensor<2xf32>
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.update 0
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.call matmul "fc1" ["a", "b", "y"] ins([[DHS]], [[XS]] : memref<8x2xf32>, memref<8x8xf32>) outs([[DW]] : memref<2x8xf32>)
  // CHECK-NEXT: plan.call reduce "fc1" ["x", "y"] ins([[DHS]] : memref<8x2xf32>) outs([[DB]] : memref<2xf32>)
  // CHECK-NEXT: plan.update 1 {seconds = 3.000000e-03 : f64}
  // CHECK-NEXT: }
  nn.update %v, %av : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %aw {nn.seconds = 1.0e-3 : f64} : tensor<2x8xf32>, tensor<2x8xf32>
  nn.update %b, %ab {nn.seconds = 2.0e-3 : f64} : tensor<2xf32>, tensor<2xf32>
}
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// A reduce-scatter's message writes the parameters. So it is issued after their last reader, and
// no operation updates them.
// CHECK-LABEL: plan.program @shards ranks 2 batch 4
nn.step @shards batch 4 {
  %x = nn.input "x" : tensor<4x2xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %v = nn.parameter "v" at 0 : tensor<2x2xf32>
  %w = nn.parameter "w" at 64 : tensor<2x2xf32>
  // CHECK: plan.bucket 0 members ["v"] by "reduce-scatter"
  %h = nn.matmul %x, %w {transpose_b, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %h, %v {transpose_b, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // The gradient of v is complete, but the next product reads v itself.
  // CHECK: plan.phase backward
  // CHECK-NEXT: plan.call matmul "fc2" {{.*}} {{{.*}}transpose_a}
  %dv = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: plan.call matmul "fc2"
  // CHECK-NEXT: plan.issue 0
  %dh = nn.matmul %d, %v {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: plan.call matmul "fc1"
  // CHECK-NEXT: plan.issue 1
  %dw = nn.matmul %dh, %x {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %av = sync.all_reduce %dv {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "reduce-scatter">} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %aw = sync.all_reduce %dw {members = ["w"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.update 1
  nn.update %v, %av : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %aw : tensor<2x2xf32>, tensor<2x2xf32>
}
}

// -----

// Servers of their own are named where something travels by them.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>,
  servers = <count = 3, dedicated = true, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>>} {
// CHECK: plan.program @served ranks 2 batch 4 {{.*}} attributes {servers = 3 : i64}
// CHECK: by "parameter-server"
nn.step @served batch 4 {
  %x = nn.input "x" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  %a = sync.all_reduce %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "parameter-server">} : (tensor<2xf32>) -> tensor<2xf32>
  nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: plan.program @unserved
// CHECK-NOT: servers
// CHECK: by ring
nn.step @unserved batch 4 {
  %x = nn.input "x" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  %a = sync.all_reduce %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2xf32>) -> tensor<2xf32>
  nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
}
}

// -----

// The servers' place is beside the ranks where they are not dedicated.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>,
  servers = <count = 1, dedicated = false, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>>} {
// CHECK-LABEL: plan.program @colocated
// CHECK-NOT: servers
// CHECK: by "parameter-server"
nn.step @colocated batch 4 {
  %x = nn.input "x" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  %a = sync.all_reduce %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "parameter-server">} : (tensor<2xf32>) -> tensor<2xf32>
  nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
}
}

// -----

// The last layer's factors exist before the backward pass begins, but evaluation, which ends there, sends nothing.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
// CHECK-LABEL: plan.program @early
nn.step @early batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %w = nn.parameter "w" at 0 : tensor<2x8xf32>
  %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  // CHECK: plan.call meanSquaredError
  // CHECK-NEXT: plan.loss
  // CHECK-NEXT: plan.phase backward
  // CHECK-NEXT: plan.gather 0
  // CHECK-NEXT: plan.phase update
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %ds, %xs = sync.all_gather %d, %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64} : (tensor<4x2xf32>, tensor<4x8xf32>) -> (tensor<8x2xf32>, tensor<8x8xf32>)
  %aw = nn.matmul %ds, %xs {transpose_a, nn.backward} : (tensor<8x2xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  nn.update %w, %aw : tensor<2x8xf32>, tensor<2x8xf32>
}
}
