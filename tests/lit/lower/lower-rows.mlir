// Rows of an embedding that are added onto the other part of a table's gradient: in the gradient's place, without a table beside it.
// RUN: syncline-opt %s -split-input-file --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem,solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan,check-runnable)' | FileCheck %s

// All parts lie where the gradient lies: the arena, of less than a table's 576 bytes, has none of them.
// CHECK-LABEL: plan.program @tied
// CHECK-SAME: arena = [[ARENA:[1-5][0-9][0-9]]] : i64
// CHECK: [[W:%[0-9]+]] = plan.tensor "w" in gradients at {{[0-9]+}} reserve 576
// CHECK-NOT: in arena {{.*}} memref<36x4xf32>
// CHECK: plan.call matmul "head" ["a", "b", "y"] {{.*}} outs([[W]] : memref<36x4xf32>)
// CHECK: plan.call embeddingBackward "one" ["ids", "dy", "onto", "dtable"] ins({{%.+}}, {{%.+}}, [[W]] : {{.*}}) outs([[W]] : memref<36x4xf32>) {seconds = 4.0{{.*}}}
// CHECK-NEXT: plan.call embeddingBackward "two" ["ids", "dy", "onto", "dtable"] ins({{%.+}}, {{%.+}}, [[W]] : {{.*}}) outs([[W]] : memref<36x4xf32>)
// CHECK-NEXT: plan.issue
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
  collectives = [<ring, #cluster.affine<a = 0.0, b = 1.5>>]>} {
  nn.step @tied batch 8 {
    %ids = nn.input "ids" : tensor<8xi64>
    %t = nn.target "t" : tensor<8xi64>
    %w = nn.parameter "w" at 0 : tensor<36x4xf32>
    %e = nn.embedding %ids, %w {nn.seconds = 1.0 : f64} : (tensor<8xi64>, tensor<36x4xf32>) -> tensor<8x4xf32>
    %y = nn.slice %e {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, nn.seconds = 1.0 : f64} : (tensor<8x4xf32>) -> tensor<8x2xf32>
    nn.output %y "y" : tensor<8x2xf32>
    %l, %d = nn.cross_entropy %y, %t {nn.seconds = 1.0 : f64} : (tensor<8x2xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x2xf32>)
    nn.loss %l : tensor<f32>
    %a = nn.constant dense<0.5> : tensor<8x36xf32>
    %de = nn.slice_backward %d {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>, nn.backward, nn.seconds = 1.0 : f64} : (tensor<8x2xf32>) -> tensor<8x4xf32>
    %head = nn.matmul %a, %de {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "head"} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %one = nn.embedding_backward %ids, %e onto %head {nn.backward, nn.seconds = 4.0 : f64, nn.layer = "one"} : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    %two = nn.embedding_backward %ids, %de onto %one {nn.backward, nn.seconds = 4.0 : f64, nn.layer = "two"} : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    nn.update %w, %two {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
  }
}

// -----

// A gradient with another reader lies in the arena, where the rows are added in place too, and is copied. What is read beside the rows keeps its own place.
// CHECK-LABEL: plan.program @copied
// CHECK: [[W:%[0-9]+]] = plan.tensor "w" in gradients
// CHECK: [[V:%[0-9]+]] = plan.tensor "v" in gradients
// CHECK: [[HEAD:%[0-9]+]] = plan.tensor "head{{.*}}" in arena at [[AT:[0-9]+]] reserve 576
// CHECK: [[SUM:%[0-9]+]] = plan.tensor "words{{.*}}" in arena at [[AT]] reserve 576
// CHECK: [[OWN:%[0-9]+]] = plan.tensor "own{{.*}}" in arena
// CHECK: plan.call embeddingBackward "words" ["ids", "dy", "onto", "dtable"] ins({{%.+}}, {{%.+}}, [[HEAD]] : {{.*}}) outs([[SUM]] :
// CHECK: plan.call reshape {{.*}} ins([[SUM]] : {{.*}}) outs([[W]] :
// CHECK: plan.call matmul "own" {{.*}} outs([[OWN]] :
// CHECK: plan.call embeddingBackward "more" ["ids", "dy", "onto", "dtable"] ins({{%.+}}, {{%.+}}, [[OWN]] : {{.*}}) outs([[V]] :
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
  collectives = [<ring, #cluster.affine<a = 0.0, b = 1.5>>]>} {
  nn.step @copied batch 8 {
    %ids = nn.input "ids" : tensor<8xi64>
    %t = nn.target "t" : tensor<8xi64>
    %w = nn.parameter "w" at 0 : tensor<36x4xf32>
    %v = nn.parameter "v" at 576 : tensor<36x4xf32>
    %u = nn.parameter "u" at 1152 : tensor<36x4xf32>
    %e = nn.embedding %ids, %w {nn.seconds = 1.0 : f64} : (tensor<8xi64>, tensor<36x4xf32>) -> tensor<8x4xf32>
    nn.output %e "y" : tensor<8x4xf32>
    %l, %d = nn.cross_entropy %e, %t {nn.seconds = 1.0 : f64} : (tensor<8x4xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x4xf32>)
    nn.loss %l : tensor<f32>
    %a = nn.constant dense<0.5> : tensor<8x36xf32>
    %head = nn.matmul %a, %d {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "head"} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %sum = nn.embedding_backward %ids, %d onto %head {nn.backward, nn.seconds = 1.0 : f64, nn.layer = "words"} : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    %own = nn.matmul %a, %e {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "own"} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %more = nn.embedding_backward %ids, %e onto %own {nn.backward, nn.seconds = 1.0 : f64, nn.layer = "more"} : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
    %twice = nn.pointwise %sum, %own {nn.backward, nn.seconds = 1.0 : f64, nn.layer = "twice"} : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.mulf %p, %q : f32
      nn.yield %r : f32
    }
    nn.update %w, %sum {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
    nn.update %v, %more {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
    nn.update %u, %twice {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
  }
}
