// The gradient of a table that an embedding and a product read, in two parts: the product's early and dense, the rows late.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem,solve-merge,check-solutions)' | FileCheck %s --check-prefix=POSE
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem,solve-merge,check-solutions)' | FileCheck %s --check-prefix=WHOLE
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem{requested=w=ring},solve-merge,check-solutions,form-buckets)' | FileCheck %s --check-prefix=FORM
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem{requested=w=ring},solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan,check-runnable)' > %t.plan
// RUN: FileCheck %s < %t.plan
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem{requested=w=factors},solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan,check-runnable)' | FileCheck %s --check-prefix=FACTORS
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem{requested=w=reduce-scatter})' 2>&1 | FileCheck %s --check-prefix=SHARDED
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients{split-tied=true}),pose-problem,solve-merge,form-buckets,lower-to-plan{overlap=step})' 2>&1 | FileCheck %s --check-prefix=AHEAD

// The dense part is ready with the product, 2 s before the rows. Rows and their numbers are 8 * (16 + 8) = 192 bytes.
// POSE: sync.problem @merge layers ["w", "v", "w:rows"] bytes [576, 64, 192]
// POSE-SAME: factor_options [{{.*}}#sync.factor_option<layer = 2, scheme = sparse, seconds = 576.0, reconstruct = 3.0, {{.*}}factorBytes = 192>]
// POSE-SAME: only [1, 1, 0]
// POSE: #sync.message<layers = [2], scheme = sparse
// POSE: [[HEAD:%.+]] = sync.gradient {{%.+}} "w" : tensor<36x4xf32>
// POSE: [[ROWS:%.+]] = sync.gradient {{%.+}} "w:rows" : tensor<36x4xf32>
// POSE: nn.pointwise [[HEAD]], [[ROWS]]
// WHOLE: sync.problem @merge layers ["v", "w"] bytes [64, 576]
// FORM: [[DENSE:%.+]] = sync.all_reduce {{.*}} members = ["w"]
// FORM: [[ALL:%.+]]:2 = sync.all_gather {{.*}} members = ["w:rows"]
// FORM: [[SUMS:%.+]] = nn.embedding_backward [[ALL]]#0, [[ALL]]#1
// FORM: [[SUM:%.+]] = nn.pointwise [[DENSE]], [[SUMS]]
// FORM: nn.update {{%.+}}, [[SUM]]

// CHECK: [[W:%[0-9]+]] = plan.tensor "w" in gradients
// CHECK: plan.bucket [[B:[0-9]]] members ["w"] by ring
// CHECK: plan.bucket [[R:[0-9]]] members ["w:rows"] by sparse {{.*}} {rows = 8 : i64}
// CHECK: plan.issue [[B]]
// CHECK: plan.gather [[R]]
// CHECK: plan.wait [[B]]
// CHECK-NOT: plan.update [[B]]
// CHECK: plan.wait [[R]]
// CHECK-NEXT: plan.call embeddingBackward {{.*}} outs([[SUMS:%[0-9]+]] :
// CHECK-NEXT: plan.pointwise {{.*}} ins([[W]], [[SUMS]] : {{.*}} outs([[W]] :
// CHECK: plan.update [[B]]
// CHECK-NOT: plan.update [[R]]
// FACTORS: plan.bucket {{.}} members ["w"] by factors
// FACTORS: plan.bucket {{.}} members ["w:rows"] by sparse
// SHARDED: layer 'w' cannot travel by 'reduce-scatter': its message would update before the gradient's rows are added, which travel apart
// AHEAD: a gradient that travels in two parts has one update, for which a step waits at its end; expected '--overlap backward', or '--split-tied never'
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
  collectives = [<ring, #cluster.affine<a = 0.0, b = 1.5>>, <factors, #cluster.affine<a = 0.0, b = 3.0>>]>} {
  nn.step @words batch 8 {
    %ids = nn.input "ids" : tensor<8xi64>
    %t = nn.target "t" : tensor<8x36xf32>
    %w = nn.parameter "w" at 0 : tensor<36x4xf32>
    %v = nn.parameter "v" at 576 : tensor<4x4xf32>
    %e = nn.embedding %ids, %w {nn.seconds = 1.0 : f64, nn.layer = "words"} : (tensor<8xi64>, tensor<36x4xf32>) -> tensor<8x4xf32>
    %h = nn.matmul %e, %v {nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %y = nn.matmul %h, %w {transpose_b, nn.seconds = 1.0 : f64, nn.layer = "head"} : (tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<8x36xf32>
    nn.output %y "y" : tensor<8x36xf32>
    %l, %d = nn.mean_squared_error %y, %t {nn.seconds = 1.0 : f64, nn.layer = "mse"} : (tensor<8x36xf32>, tensor<8x36xf32>) -> (tensor<f32>, tensor<8x36xf32>)
    nn.loss %l : tensor<f32>
    %head = nn.matmul %d, %h {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "head"} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %dh = nn.matmul %d, %w {nn.backward, nn.seconds = 1.0 : f64, nn.layer = "head"} : (tensor<8x36xf32>, tensor<36x4xf32>) -> tensor<8x4xf32>
    %dv = nn.matmul %e, %dh {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %de = nn.matmul %dh, %v {transpose_b, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %rows = nn.embedding_backward %ids, %de {nn.backward, nn.seconds = 4.0 : f64, nn.layer = "words"} : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
    %dw = nn.pointwise %head, %rows {nn.backward, nn.seconds = 1.0 : f64, nn.layer = "words"} : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32> {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      nn.yield %s : f32
    }
    nn.update %w, %dw {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
    nn.update %v, %dv {nn.seconds = 1.0 : f64} : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
