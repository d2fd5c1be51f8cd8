// Messages that the next step waits for: waits stand before the first reader in the forward pass.
// RUN: syncline-opt --lower-to-plan=overlap=step --check-plan --split-input-file %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// CHECK-LABEL: plan.program @factors ranks 2 batch 4
// CHECK-SAME: attributes {overlap = "step"}
nn.step @factors batch 4 {
  // CHECK: [[X:%.+]] = plan.tensor "x" in input
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %w = nn.parameter "w" at 0 : tensor<2x8xf32>
  %b = nn.parameter "b" at 64 : tensor<2xf32>
  %v = nn.parameter "v" at 128 : tensor<2x2xf32>
  // A factor lives until it is gathered (12), which copies it.
  // CHECK: [[H:%.+]] = plan.tensor "fc1" in arena at {{[0-9]+}} reserve 64 live [4, 10]
  // CHECK: [[DH:%.+]] = plan.tensor "fc2.grad" in arena at {{[0-9]+}} reserve 64 live [9, 12]
  // All ranks' factors live from step to step.
  // CHECK: [[XS:%.+]] = plan.tensor "x.gathered" in arena at {{[0-9]+}} reserve 256 live [0, 12]
  // CHECK: [[DHS:%.+]] = plan.tensor "fc2.grad.gathered" in arena at {{[0-9]+}} reserve 64 live [0, 12]
  // The first layer reads "w" of bucket 1, so the whole bucket arrives first.
  // CHECK: plan.phase update
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.call matmul "fc1" ["a", "b", "y"] ins([[DHS]], [[XS]]
  // CHECK-NEXT: plan.call reduce "fc1" ["x", "y"] ins([[DHS]]
  // CHECK-NEXT: plan.update 1
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc1" {{.*}} outs([[H]]
  %h = nn.matmul %x, %w {transpose_b, nn.layer = "fc1"} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.update 0
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc2"
  %y = nn.matmul %h, %v bias %b {transpose_b, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  // CHECK-NEXT: plan.call meanSquaredError
  %l, %d = nn.mean_squared_error %y, %t {nn.layer = "mse"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // Messages are issued as ever, and nothing follows them.
  // CHECK-NEXT: plan.phase backward
  // CHECK-NEXT: plan.call matmul "fc2" {{.*}} outs([[DH]]
  %dh = nn.matmul %d, %v {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: plan.call matmul "fc2"
  // CHECK-NEXT: plan.issue 0
  // CHECK-NEXT: plan.gather 1 ins([[X]], [[DH]] : {{.*}}) outs([[XS]], [[DHS]]
  // CHECK-NEXT: }
  %dv = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %av = sync.all_reduce %dv {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme tree>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %xs, %dhs = sync.all_gather %x, %dh {members = ["w", "b"], bucket = 1 : i64, channel = 0 : i64} : (tensor<4x8xf32>, tensor<4x2xf32>) -> (tensor<8x8xf32>, tensor<8x2xf32>)
  %aw = nn.matmul %dhs, %xs {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<8x2xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %ab = nn.reduce sum %dhs {axes = array<i64: 0>, nn.backward, nn.layer = "fc1"} : (tensor<8x2xf32>) -> tensor<2xf32>
  nn.update %v, %av : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %aw {nn.seconds = 1.0e-3 : f64} : tensor<2x8xf32>, tensor<2x8xf32>
  nn.update %b, %ab {nn.seconds = 2.0e-3 : f64} : tensor<2xf32>, tensor<2xf32>
}
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// A reduce-scatter has updated the parameters when it has arrived.
// CHECK-LABEL: plan.program @shards ranks 2 batch 4
nn.step @shards batch 4 {
  %x = nn.input "x" : tensor<4x2xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %v = nn.parameter "v" at 0 : tensor<2x2xf32>
  %w = nn.parameter "w" at 64 : tensor<2x2xf32>
  // CHECK: plan.phase update
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.update 1
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc1"
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc2"
  %h = nn.matmul %x, %w {transpose_b, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %h, %v {transpose_b, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  %dv = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %dh = nn.matmul %d, %v {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %dw = nn.matmul %dh, %x {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %av = sync.all_reduce %dv {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "reduce-scatter">} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %aw = sync.all_reduce %dw {members = ["w"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: plan.issue 1
  // CHECK-NEXT: }
  nn.update %v, %av : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %aw : tensor<2x2xf32>, tensor<2x2xf32>
}
}
