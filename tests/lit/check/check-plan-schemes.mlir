// Plans of every scheme that keep the rules.
// RUN: syncline-opt --check-plan --split-input-file %patched | FileCheck %s

// Base: A bucket by factors is gathered, waited for, multiplied and updated.
// CHECK: plan.program @p ranks 2 batch 4
// CHECK: plan.gather 0 ins(%{{.*}}, %{{.*}} : memref<4x4xf32>, memref<4x4xf32>) outs(%{{.*}}, %{{.*}} : memref<8x4xf32>, memref<8x4xf32>)
// CHECK-NEXT: plan.wait 0
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
  %r = plan.tensor "r" in arena at 64 reserve 64 live [0, 0] : memref<4x4xf32>
  %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 3] : memref<8x4xf32>
  %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 3] : memref<8x4xf32>
  plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
  plan.wait 0
  plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.update 0
}

// -----

// A bucket by reduce-scatter is issued after the last reader of its parameters, and never updated.
// CHECK: plan.program @p ranks 2 batch 4
// CHECK: plan.issue 0
// CHECK-NEXT: plan.wait 0
// CHECK-NOT: plan.update
drop plan.gather 0
drop matmul "dw"
drop plan.update 0
change "r" in arena | live [0, 0] => live [0, 9]
change plan.bucket 0 | factors => "reduce-scatter"
before plan.wait 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
before plan.wait 0 | plan.call reshape "r" ["x", "y"] ins(%w : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
before plan.wait 0 | plan.issue 0

// -----

// A bucket that travels through dedicated servers.
// CHECK: plan.program @p ranks 2 batch 4 spaces {{{.*}}} attributes {servers = 2 : i64}
// CHECK: by "parameter-server"
drop plan.gather 0
drop matmul "dw"
change arena = 384 : i64} => arena = 384 : i64} attributes {servers = 2 : i64}
change plan.bucket 0 | factors => "parameter-server"
before plan.wait 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
before plan.wait 0 | plan.issue 0
