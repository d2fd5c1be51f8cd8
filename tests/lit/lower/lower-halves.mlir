// Buckets that travel in halves: the second half is handed over at its place on the channel.
// RUN: syncline-opt --lower-to-plan=overlap=step --check-plan %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// CHECK-LABEL: plan.program @halves ranks 2 batch 4
nn.step @halves batch 4 {
  %x = nn.input "x" : tensor<4x2xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %u = nn.parameter "u" at 0 : tensor<2x2xf32>
  %v = nn.parameter "v" at 64 : tensor<2x2xf32>
  %w = nn.parameter "w" at 128 : tensor<2x2xf32>
  // Only what travels in halves has times of an all-gather.
  // CHECK: plan.bucket 0 members ["u"] by "reduce-scatter" {{.*}} {halved}
  // CHECK-NEXT: plan.bucket 1 members ["v"] by ring {{.*}} {halved}
  // CHECK-NEXT: plan.bucket 2 members ["w"] by ring channel 0 at {{[0-9]+}} extent {{[0-9]+}} bytes {{[0-9]+}}{{$}}
  // CHECK: plan.phase update
  // CHECK-NEXT: plan.wait 2
  // CHECK-NEXT: plan.update 2
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc1"
  // One wait is for both halves. A ring brings sums, so that an update follows.
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.update 1
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc2"
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.phase forward
  // CHECK-NEXT: plan.call matmul "fc3"
  %g = nn.matmul %x, %w {transpose_b, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %h = nn.matmul %g, %v {transpose_b, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %y = nn.matmul %h, %u {transpose_b, nn.layer = "fc3"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // The reduce-scatter leaves once nothing reads its parameters any more.
  // CHECK: plan.call matmul "fc3"
  // CHECK-NEXT: plan.call matmul "fc3"
  // CHECK-NEXT: plan.issue 0
  %du = nn.matmul %d, %h {transpose_a, nn.backward, nn.layer = "fc3"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %dh = nn.matmul %d, %u {nn.backward, nn.layer = "fc3"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // The ring leaves before, once its gradient is written. Its second half is message 2 of the
  // channel, before bucket 2; that of bucket 0 is message 4 and last.
  // CHECK: plan.call matmul "fc2"
  // CHECK-NEXT: plan.issue 1
  // CHECK-NEXT: plan.all_gather 1
  // CHECK-NEXT: plan.call matmul "fc2"
  %dv = nn.matmul %dh, %g {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %dg = nn.matmul %dh, %v {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT: plan.call matmul "fc1"
  // CHECK-NEXT: plan.issue 2
  // CHECK-NEXT: plan.all_gather 0
  // CHECK-NEXT: }
  %dw = nn.matmul %dg, %x {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %au = sync.all_reduce %du {members = ["u"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "reduce-scatter">, gather_place = 4 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %av = sync.all_reduce %dv {members = ["v"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>, gather_place = 2 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %aw = sync.all_reduce %dw {members = ["w"], bucket = 2 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  nn.update %u, %au : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %v, %av : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %aw : tensor<2x2xf32>, tensor<2x2xf32>
}
}
