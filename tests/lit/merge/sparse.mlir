// Rows of an embedding's gradient in place of the gradient: posed, chosen where the formula says, lowered and checked.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem,solve-merge,check-solutions)' | FileCheck %s --check-prefix=POSE
// RUN: sed -e 's/36x4/20x4/g' %s | syncline-opt --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem,solve-merge,check-solutions)' | FileCheck %s --check-prefix=DENSE
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=w=sparse},solve-merge,check-solutions,form-buckets)' | FileCheck %s --check-prefix=FORM
// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem,solve-merge,check-solutions,form-buckets,lower-to-plan,predict-times,check-plan,check-runnable)' > %t.plan
// RUN: FileCheck %s < %t.plan
// RUN: sed -e 's/rows = 8 : i64/rows = 7 : i64/' %t.plan > %t.rows
// RUN: not syncline-opt --check-plan %t.rows 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=w=factors})' 2>&1 | FileCheck %s --check-prefix=FACTORS
// RUN: not syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),pose-problem{requested=v=sparse})' 2>&1 | FileCheck %s --check-prefix=NONE

// 8 rows a rank of 16 bytes, with 8 bytes for the number of each, are 192 bytes and take 576 s. The ring takes 864 s for 36 rows
// and 480 s for 20, so that 24 rows are the limit: K·P = 32 = 2V · 16 / 24. An embedding of 36 rows spends 192 of 768 bytes on one
// rank's rows: each of 3 more ranks adds a quarter of its 4 s.
// POSE: sync.problem @merge layers ["v", "w"] bytes [64, 576]
// POSE-SAME: factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 768.0, {{.*}}>, #sync.factor_option<layer = 1, scheme = sparse, seconds = 576.0, reconstruct = 3.0, traffic = 1152.0, factorBytes = 192>]
// POSE: #sync.message<layers = [1], scheme = sparse
// DENSE: scheme = sparse, seconds = 576.0
// DENSE: messages [
// DENSE-NOT: scheme = sparse
// FORM: [[ALL:%.+]]:2 = sync.all_gather {{.*}} members = ["w"]
// FORM-SAME: (tensor<8xi64>, tensor<8x4xf32>) -> (tensor<32xi64>, tensor<32x4xf32>)
// FORM: nn.embedding_backward [[ALL]]#0, [[ALL]]#1 {{.*}}nn.seconds = 7.0{{.*}} -> tensor<36x4xf32>
// FORM-NOT: nn.embedding_backward

// CHECK: plan.bucket {{.}} members ["w"] by sparse {{.*}} {rows = 8 : i64}
// CHECK: plan.gather {{.*}} outs([[IDS:%.+]], [[ALL:%.+]] : memref<32xi64>, memref<32x4xf32>)
// CHECK: plan.call embeddingBackward {{.*}} ins([[IDS]], [[ALL]] : memref<32xi64>, memref<32x4xf32>)
// ROWS: P34: expected 7 rows of each rank, as the bucket states, got 8 numbers of rows for
// FACTORS: layer 'w' cannot travel by 'factors': its gradient is no product of two factors that sums over samples
// NONE: layer 'v' cannot travel by 'sparse': its gradient is not the sums of one embedding's rows alone
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
  collectives = [<ring, #cluster.affine<a = 0.0, b = 1.5>>, <factors, #cluster.affine<a = 0.0, b = 3.0>>]>} {
  nn.step @words batch 8 {
    %ids = nn.input "ids" : tensor<8xi64>
    %t = nn.target "t" : tensor<8x4xf32>
    %w = nn.parameter "w" at 0 : tensor<36x4xf32>
    %v = nn.parameter "v" at 576 : tensor<4x4xf32>
    %e = nn.embedding %ids, %w {nn.seconds = 1.0 : f64, nn.layer = "words"} : (tensor<8xi64>, tensor<36x4xf32>) -> tensor<8x4xf32>
    %y = nn.matmul %e, %v {nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    nn.output %y "y" : tensor<8x4xf32>
    %l, %d = nn.mean_squared_error %y, %t {nn.seconds = 1.0 : f64, nn.layer = "mse"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<f32>, tensor<8x4xf32>)
    nn.loss %l : tensor<f32>
    %dv = nn.matmul %e, %d {transpose_a, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %de = nn.matmul %d, %v {transpose_b, nn.backward, nn.seconds = 1.0 : f64, nn.layer = "fc"} : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %dw = nn.embedding_backward %ids, %de {nn.backward, nn.seconds = 4.0 : f64, nn.layer = "words"} : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
    nn.update %w, %dw {nn.seconds = 1.0 : f64} : tensor<36x4xf32>, tensor<36x4xf32>
    nn.update %v, %dv {nn.seconds = 1.0 : f64} : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
