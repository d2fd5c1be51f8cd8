// The pass `fuse-rows`: which additions an embedding's rows become part of.
// RUN: syncline-opt %s -split-input-file -fuse-rows | FileCheck %s
// RUN: syncline-opt %s -split-input-file -fuse-rows=keep-tied | FileCheck %s --check-prefix=KEPT

// Rows are added onto the dense part, whichever comes first; times are added, the layer is the last one's.
// CHECK-LABEL: nn.step @tied
// CHECK: [[H:%.+]] = nn.matmul
// CHECK-NEXT: [[SUM:%.+]] = nn.embedding_backward %{{.+}}, %{{.+}} onto [[H]] {nn.backward, nn.layer = "words", nn.seconds = 3.000000e+00 : f64} : (tensor<8xi64>, tensor<8x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
// CHECK-NEXT: [[G:%.+]] = nn.matmul
// CHECK-NEXT: [[OTHER:%.+]] = nn.embedding_backward %{{.+}}, %{{.+}} onto [[G]]
// CHECK-NEXT: nn.update %{{.+}}, [[SUM]]
// CHECK-NEXT: nn.update %{{.+}}, [[OTHER]]
// Parts that may travel apart stay apart.
// KEPT-LABEL: nn.step @tied
// KEPT-COUNT-2: nn.binary add
nn.step @tied batch 8 {
  %ids = nn.input "ids" : tensor<8xi64>
  %w = nn.parameter "w" at 0 : tensor<36x4xf32>
  %v = nn.parameter "v" at 576 : tensor<36x4xf32>
  %d = nn.input "d" : tensor<8x36xf32>
  %x = nn.input "x" : tensor<8x4xf32>
  %h = nn.matmul %d, %x {transpose_a, nn.backward, nn.layer = "head"} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %e = nn.embedding_backward %ids, %x {nn.backward, nn.layer = "rows", nn.seconds = 1.0 : f64} : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %s = nn.binary add %h, %e {nn.backward, nn.layer = "words", nn.seconds = 2.0 : f64} : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  %f = nn.embedding_backward %ids, %x {nn.backward} : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %g = nn.matmul %d, %x {transpose_a, nn.backward} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %u = nn.binary add %f, %g {nn.backward} : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  nn.update %w, %s : tensor<36x4xf32>, tensor<36x4xf32>
  nn.update %v, %u : tensor<36x4xf32>, tensor<36x4xf32>
}

// -----

// Two embeddings of one table: one's rows lie on the other's, and both on the dense part.
// CHECK-LABEL: nn.step @twice
// CHECK: [[H:%.+]] = nn.matmul
// CHECK-NEXT: [[ONE:%.+]] = nn.embedding_backward %{{.+}}, %{{.+}} onto [[H]]
// CHECK-NEXT: [[TWO:%.+]] = nn.embedding_backward %{{.+}}, %{{.+}} onto [[ONE]]
// CHECK-NEXT: nn.update %{{.+}}, [[TWO]]
// KEPT-LABEL: nn.step @twice
// KEPT: [[ONE:%.+]] = nn.embedding_backward %{{.+}}, %{{.+}} onto
// KEPT-NEXT: [[TWO:%.+]] = nn.embedding_backward
// KEPT-NEXT: nn.binary add [[ONE]], [[TWO]]
nn.step @twice batch 8 {
  %ids = nn.input "ids" : tensor<8xi64>
  %w = nn.parameter "w" at 0 : tensor<36x4xf32>
  %d = nn.input "d" : tensor<8x36xf32>
  %x = nn.input "x" : tensor<8x4xf32>
  %h = nn.matmul %d, %x {transpose_a} : (tensor<8x36xf32>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %e = nn.embedding_backward %ids, %x : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %s = nn.binary add %h, %e : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  %f = nn.embedding_backward %ids, %x : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %u = nn.binary add %s, %f : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  nn.update %w, %u : tensor<36x4xf32>, tensor<36x4xf32>
}

// -----

// Rows that another operation reads too are computed, as are those of no parameter's gradient.
// CHECK-LABEL: nn.step @others
// CHECK-NOT: onto
nn.step @others batch 8 {
  %ids = nn.input "ids" : tensor<8xi64>
  %w = nn.parameter "w" at 0 : tensor<36x4xf32>
  %h = nn.input "h" : tensor<36x4xf32>
  %x = nn.input "x" : tensor<8x4xf32>
  %e = nn.embedding_backward %ids, %x : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %s = nn.binary add %h, %e : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  nn.update %w, %s : tensor<36x4xf32>, tensor<36x4xf32>
  nn.output %e "e" : tensor<36x4xf32>
  %f = nn.embedding_backward %ids, %x : (tensor<8xi64>, tensor<8x4xf32>) -> tensor<36x4xf32>
  %u = nn.binary add %h, %f : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  %m = nn.binary mul %u, %h : (tensor<36x4xf32>, tensor<36x4xf32>) -> tensor<36x4xf32>
  nn.output %m "m" : tensor<36x4xf32>
}
