// The pass `recompute`: what it refuses.
// RUN: not syncline-opt %s -pass-pipeline='builtin.module(nn.step(recompute{globs=/g/*}))' 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: --recompute: no layer matches '/g/*', layers are named like '/h/fc'
// RUN: not syncline-opt %s -pass-pipeline='builtin.module(nn.step(recompute{globs=h\}))' 2>&1 | FileCheck %s --check-prefix=GLOB
// GLOB: --recompute: expected none, auto or a pattern of layers such as '/encoder/layers.*', got 'h\'
nn.step @block batch 4 {
  %x = nn.input "x" : tensor<4x8xf32>
  %w = nn.parameter "w" at 64 : tensor<2x8xf32>
  %y = nn.matmul %x, %w {transpose_b, nn.layer = "/h/fc"} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
}
