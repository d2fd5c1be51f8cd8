// A step becomes a plan: issue order, buckets, places by lifetime.
// RUN: syncline-opt --lower-to-plan --check-plan %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {

// The program keeps the step's name and batch and takes the ranks from the cluster.
// CHECK-LABEL: plan.program @mlp ranks 2 batch 4
// CHECK-SAME: arena = [[ARENA:[0-9]+]] : i64, gradients = 640 : i64, input = 128 : i64, parameters = 640 : i64, state = 64 : i64, target = 64 : i64
nn.step @mlp batch 4 {
  // CHECK: [[X:%.+]] = plan.tensor "x" in input at 0 reserve 128 : memref<4x8xf32>
  %x = nn.input "x" : tensor<4x8xf32>
  // CHECK: [[T:%.+]] = plan.tensor "label" in target at 0 reserve 64 : memref<4xi64>
  %t = nn.target "label" : tensor<4xi64>
  // CHECK: [[C:%.+]] = plan.tensor "constant/0" in state at 0 reserve 64 {init = dense<5.000000e-01> : tensor<f32>} : memref<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %w1 = nn.parameter "fc1.weight" at 0 : tensor<16x8xf32>
  %w2 = nn.parameter "fc2.weight" init <normal, 0.0 : f64, 0.1 : f64> : tensor<2x16xf32>

  // Parameters lie exactly as their gradients do, in bucket order: the last layer first.
  // CHECK: [[W2:%.+]] = plan.tensor "fc2.weight" in parameters at 0 reserve 128 {bucket = 0 : i64, init = #nn.init<normal, {{.*}}>} : memref<2x16xf32>
  // CHECK: [[W1:%.+]] = plan.tensor "fc1.weight" in parameters at 128 reserve 512 {bucket = 1 : i64, values = 0 : i64} : memref<16x8xf32>
  // CHECK: [[D2:%.+]] = plan.tensor "fc2.weight" in gradients at 0 reserve 128 {bucket = 0 : i64}
  // CHECK: [[D1:%.+]] = plan.tensor "fc1.weight" in gradients at 128 reserve 512 {bucket = 1 : i64}

  // The hidden layer lives until backward has used it; the flat relu takes its operand's place.
  // CHECK: [[H:%.+]] = plan.tensor "fc1" in arena at [[HAT:[0-9]+]] reserve 256 live [0, 1]
  // CHECK: [[R:%.+]] = plan.tensor "relu1" in arena at [[HAT]] reserve 256 live [1, 8]
  // CHECK: [[Y:%.+]] = plan.tensor "logits" in arena at {{[0-9]+}} reserve 64 live [2, 4] {output}
  // CHECK: plan.tensor "loss.loss" in arena
  // CHECK: plan.tensor "loss.dlogits" in arena

  // CHECK: plan.bucket 0 members ["fc2.weight"] by ring channel 0 at 0 extent 128 bytes 128
  // CHECK: plan.bucket 1 members ["fc1.weight"] by ring channel 0 at 128 extent 512 bytes 512

  // CHECK: plan.phase forward
  // CHECK: plan.call matmul "fc1" ["a", "b", "y"] ins([[X]], [[W1]] : {{.*}}) outs([[H]] : {{.*}}) {activation = #nn<activation none>, seconds = 1.000000e-03 : f64, transpose_b}
  %h = nn.matmul %x, %w1 {transpose_b, nn.layer = "fc1", nn.seconds = 1.0e-3 : f64} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  // CHECK: plan.pointwise "relu1" ins([[H]] : {{.*}}) outs([[R]] : {{.*}}) attributes {flat, keeps_zero}
  // CHECK: arith.maximumf
  // CHECK: plan.yield
  %r = nn.pointwise %h {nn.layer = "relu1"} : (tensor<4x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %e, %zero : f32
    nn.yield %m : f32
  }
  // CHECK: plan.call matmul "fc2"
  %y = nn.matmul %r, %w2 {transpose_b, nn.layer = "fc2"} : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  nn.output %y "logits" : tensor<4x2xf32>
  // CHECK: plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins([[Y]], [[T]]
  %l, %d = nn.cross_entropy %y, %t {nn.layer = "loss"} : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  // CHECK: plan.loss
  nn.loss %l : tensor<f32>

  // A gradient is written straight to its place, and its bucket leaves at once.
  // CHECK: plan.phase backward
  // CHECK: plan.call matmul "fc2" {{.*}} outs([[D2]]
  %dw2 = nn.matmul %d, %r {transpose_a, nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<4x16xf32>) -> tensor<2x16xf32>
  // CHECK-NEXT: plan.issue 0
  %dr = nn.matmul %d, %w2 {nn.backward, nn.layer = "fc2"} : (tensor<4x2xf32>, tensor<2x16xf32>) -> tensor<4x16xf32>
  // A loop over an operand of another shape is not flat; 0 + 0.5 is not zero.
  // CHECK: plan.pointwise "relu1" ins({{%.+}}, [[R]], [[C]]
  // CHECK-NOT: keeps_zero
  %dh = nn.pointwise %dr, %r, %half {nn.backward, nn.layer = "relu1"} : (tensor<4x16xf32>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32> {
  ^bb0(%g: f32, %e: f32, %c: f32):
    %one = arith.constant 5.0e-01 : f32
    %s = arith.addf %g, %one : f32
    nn.yield %s : f32
  }
  // CHECK: plan.call matmul "fc1" {{.*}} outs([[D1]]
  %dw1 = nn.matmul %dh, %x {transpose_a, nn.backward, nn.layer = "fc1"} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  // CHECK-NEXT: plan.issue 1
  %a2 = sync.all_reduce %dw2 {members = ["fc2.weight"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %a1 = sync.all_reduce %dw1 {members = ["fc1.weight"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  // CHECK-NEXT: plan.phase update
  // CHECK-NEXT: plan.wait 0
  // CHECK-NEXT: plan.update 0 {seconds = 2.000000e-03 : f64}
  // CHECK-NEXT: plan.wait 1
  // CHECK-NEXT: plan.update 1{{$}}
  nn.update %w2, %a2 {nn.seconds = 2.0e-3 : f64} : tensor<2x16xf32>, tensor<2x16xf32>
  nn.update %w1, %a1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// A gradient that somebody else needs too is copied to its bucket; a bucket that is complete early waits for
// those before it on its channel.
// CHECK-LABEL: plan.program @shared
nn.step @shared batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %a = nn.parameter "a" at 0 : tensor<2x3xf32>
  %b = nn.parameter "b" at 64 : tensor<2x3xf32>
  %y = nn.pointwise %x, %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    %u = arith.addf %s, %r : f32
    nn.yield %u : f32
  }
  nn.output %y "y" : tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
  // CHECK: plan.call meanSquaredError
  // CHECK-NEXT: plan.call reshape "mean_squared_error" ["x", "y"]
  // CHECK-NEXT: plan.call reshape "mean_squared_error" ["x", "y"]
  // CHECK-NEXT: plan.loss
  // CHECK-NEXT: plan.phase backward
  // CHECK-NEXT: plan.issue 0
  // CHECK-NEXT: plan.issue 1
  %ra = sync.all_reduce %d {members = ["a"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %rb = sync.all_reduce %d {members = ["b"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  nn.update %a, %ra : tensor<2x3xf32>, tensor<2x3xf32>
  nn.update %b, %rb : tensor<2x3xf32>, tensor<2x3xf32>
}

// Channels are reserved in blocks of 16 from three dimensions on; results that nobody reads are left out in backward.
// CHECK-LABEL: plan.program @cnn
nn.step @cnn batch 2 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %t = nn.target "t" : tensor<2x5x4x4xf32>
  %w = nn.parameter "conv.weight" at 0 : tensor<5x3x1x1xf32>
  %b = nn.parameter "conv.bias" at 64 : tensor<5xf32>
  // CHECK: plan.tensor "y" in arena at {{[0-9]+}} reserve 2048 live [0, 2] {output} : memref<2x5x4x4xf32>
  // CHECK: plan.call conv "conv" ["x", "w", "bias", "y"]
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.layer = "conv"} : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  nn.output %y "y" : tensor<2x5x4x4xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x5x4x4xf32>, tensor<2x5x4x4xf32>) -> (tensor<f32>, tensor<2x5x4x4xf32>)
  nn.loss %l : tensor<f32>
  // CHECK: plan.call convBackwardWeights "conv" ["x", "dy", "dw", "dbias"]
  %dw, %db = nn.conv_backward_weights %x, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.backward, nn.layer = "conv"} : (tensor<2x3x4x4xf32>, tensor<2x5x4x4xf32>) -> (tensor<5x3x1x1xf32>, tensor<5xf32>)
  // CHECK-NOT: plan.call
  // CHECK: plan.issue 0
  %dx = nn.conv_backward_data %d, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>, nn.backward, nn.layer = "conv"} : (tensor<2x5x4x4xf32>, tensor<5x3x1x1xf32>) -> tensor<2x3x4x4xf32>
  %r:2 = sync.all_reduce %db, %dw {members = ["conv.bias", "conv.weight"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<5xf32>, tensor<5x3x1x1xf32>) -> (tensor<5xf32>, tensor<5x3x1x1xf32>)
  nn.update %b, %r#0 : tensor<5xf32>, tensor<5xf32>
  nn.update %w, %r#1 : tensor<5x3x1x1xf32>, tensor<5x3x1x1xf32>
}
}
