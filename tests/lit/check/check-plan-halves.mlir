// Buckets that travel in halves.
// RUN: syncline-opt --check-plan --split-input-file %patched | FileCheck %s

// Base: The next step waits for both halves.
// CHECK-LABEL: plan.program @p
// CHECK: plan.wait 0
// CHECK: plan.issue 0
// CHECK-NEXT: plan.all_gather 0
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} attributes {overlap = "step"} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by "reduce-scatter" channel 0 at 0 extent 64 bytes 64 {halved}
  plan.phase update
  plan.wait 0
  plan.phase forward
  plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.all_gather 0
}

// -----

// A ring in halves gathers sums, which an update reads. The parameters may be read between the halves.
// CHECK-LABEL: plan.program @p
// CHECK: plan.wait 0
// CHECK-NEXT: plan.update 0
// CHECK: plan.all_gather 0
// CHECK-NEXT: plan.call
change plan.bucket 0 | "reduce-scatter" => ring
after plan.wait 0 | plan.update 0
after plan.all_gather 0 | plan.call matmul "y" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)

// -----

// So does a bucket that waits for its own step.
// CHECK-LABEL: plan.program @p
// CHECK: plan.all_gather 0
// CHECK: plan.wait 0
move plan.phase update | after plan.all_gather 0
move plan.wait 0 | after plan.phase update
