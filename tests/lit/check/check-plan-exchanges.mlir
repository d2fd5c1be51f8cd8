// Weights that travel in place of gradients (P31): text that reads back to itself, and is valid.
// RUN: syncline-opt --check-plan %s | FileCheck %s

// CHECK: attributes {consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96
  // CHECK: plan.exchange 0 members ["w"] by ring at 0 extent 64 bytes 64 start 3 wait 4
  plan.exchange 0 members ["w"] by ring at 0 extent 64 bytes 64 start 3 wait 4 seconds 0.0 traffic 0.0
  plan.exchange 1 members ["v"] by ring at 64 extent 64 bytes 32 start 7 wait 8 seconds 0.0 traffic 0.0
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}
