// A gradient that two messages carry: one tensor, two buckets side by side, each with its own wait and update.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{overlap=step requested=*=ring},solve-merge,check-solutions,form-buckets)' | FileCheck %s --check-prefix=FORM
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{overlap=step requested=*=ring},solve-merge,check-solutions,form-buckets,lower-to-plan{overlap=step},predict-times,check-plan,check-runnable)' | FileCheck %s

// The second message takes the result of the first one, and the update the last result.
// FORM: %[[A:.*]] = sync.all_reduce %{{.*}} {bucket = 1 : i64, {{.*}}cut = array<i64: 0, 1216>, {{.*}}members = ["w2"]
// FORM: %[[W1:.*]] = sync.all_reduce {{.*}} {bucket = 2 : i64, {{.*}}members = ["w1"]
// FORM: %[[B:.*]] = sync.all_reduce %[[A]] {bucket = 3 : i64, {{.*}}cut = array<i64: 2880, 0>, {{.*}}members = ["w2"]
// FORM: nn.update %{{.*}}, %[[B]]
// FORM: nn.update %{{.*}}, %[[W1]]

// The planner's period is the step in virtual time.
// CHECK: sync.solution {{.*}} finish 10.4609375 bound 1.006250e+01
// CHECK: sync.prediction {{.*}} step 10.4609375
// CHECK: plan.tensor "w2" in parameters at 512 reserve 4096 {bucket = 1 : i64
// CHECK: plan.tensor "w2" in gradients at 512 reserve 4096 {bucket = 1 : i64}
// CHECK: plan.bucket 0 members ["w3"] by ring channel 0 at 0 extent 512 bytes 512
// CHECK: plan.bucket 1 members ["w2"] by ring channel 0 at 512 extent 2880 bytes 2880
// CHECK: plan.bucket 2 members ["w1"] by ring channel 0 at 4608 extent 512 bytes 512
// CHECK: plan.bucket 3 members ["w2"] by ring channel 0 at 3392 extent 1216 bytes 1216

// An update of a part takes its part of the time: 0.5 s * 2880 / 4096.
// CHECK: plan.wait 2
// CHECK-NEXT: plan.update 2
// CHECK: plan.wait 1
// CHECK-NEXT: plan.update 1 {seconds = 0.3515625 : f64}
// CHECK-NEXT: plan.wait 3
// CHECK-NEXT: plan.update 3 {seconds = 0.1484375 : f64}
// CHECK-NEXT: plan.phase forward
// CHECK-NEXT: plan.call matmul "fc2"
// CHECK: plan.wait 0

// "w2" is complete when bucket 1 is issued, but bucket 3 follows bucket 2.
// CHECK: plan.call matmul "fc2" {{.*}} outs([[DW2:%.+]] : memref<64x16xf32>)
// CHECK-NEXT: plan.issue 1
// CHECK: plan.call matmul "fc1"
// CHECK-NEXT: plan.issue 2
// CHECK-NEXT: plan.issue 3
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.25, b = 0.0009765625>>]>} {
nn.step @mlp batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %t = nn.target "t" : tensor<4x2xf32>
  %w1 = nn.parameter "w1" at 0 : tensor<16x8xf32>
  %w2 = nn.parameter "w2" at 512 : tensor<64x16xf32>
  %w3 = nn.parameter "w3" at 4608 : tensor<2x64xf32>
  %h = nn.matmul %x, %w1 {transpose_b, nn.layer = "fc1", nn.seconds = 1.0 : f64} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %g = nn.matmul %h, %w2 {transpose_b, nn.layer = "fc2", nn.seconds = 1.0 : f64} : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32>
  %y = nn.matmul %g, %w3 {transpose_b, nn.layer = "fc3", nn.seconds = 1.0 : f64} : (tensor<4x64xf32>, tensor<2x64xf32>) -> tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  %l, %d = nn.mean_squared_error %y, %t {nn.layer = "mse", nn.seconds = 0.0 : f64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  nn.loss %l : tensor<f32>
  %dw3 = nn.matmul %d, %g {transpose_a, nn.backward, nn.layer = "fc3", nn.seconds = 1.0 : f64} : (tensor<4x2xf32>, tensor<4x64xf32>) -> tensor<2x64xf32>
  %dg = nn.matmul %d, %w3 {nn.backward, nn.layer = "fc3", nn.seconds = 1.0 : f64} : (tensor<4x2xf32>, tensor<2x64xf32>) -> tensor<4x64xf32>
  %dw2 = nn.matmul %dg, %h {transpose_a, nn.backward, nn.layer = "fc2", nn.seconds = 1.0 : f64} : (tensor<4x64xf32>, tensor<4x16xf32>) -> tensor<64x16xf32>
  %dh = nn.matmul %dg, %w2 {nn.backward, nn.layer = "fc2", nn.seconds = 1.0 : f64} : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
  %dw1 = nn.matmul %dh, %x {transpose_a, nn.backward, nn.layer = "fc1", nn.seconds = 1.0 : f64} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  nn.update %w3, %dw3 {nn.seconds = 0.0625 : f64} : tensor<2x64xf32>, tensor<2x64xf32>
  nn.update %w2, %dw2 {nn.seconds = 0.5 : f64} : tensor<64x16xf32>, tensor<64x16xf32>
  nn.update %w1, %dw1 {nn.seconds = 0.0625 : f64} : tensor<16x8xf32>, tensor<16x8xf32>
}
}
