// Weights that travel by servers, and EASGD (P31): text that reads back to itself, and is valid.
// RUN: syncline-opt --check-plan --split-input-file %patched | FileCheck %s

// Base: A lead of 3 steps, by two servers.
// CHECK: plan.exchange 0 {{.*}} start 1 wait 4 seconds
// CHECK-NEXT: plan.shard 0 at 0 extent 64
// CHECK-NEXT: plan.shard 1 at 64 extent 64
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.shard 0 at 0 extent 64
  plan.shard 1 at 64 extent 64
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// Valid: Nothing bounds an arrival, and one server has all weights.
// CHECK: plan.exchange 0 {{.*}} start 1 seconds
// CHECK-NEXT: plan.shard 0 at 0 extent 128
change ssp, upper = 3> => asp>, servers = 1 : i64
drop plan.exchange 0 | wait 4
change plan.shard 0 | extent 64 => extent 128
drop plan.shard 1

// -----

// Valid: EASGD by servers.
change ssp, upper = 3 => easgd, variant = hogwild, rho = 0.5
change plan.exchange 0 | start 1 wait 4 => start 0 wait 1

// -----

// Base: EASGD by all-reduces, which waits before the step.
change ssp, upper = 3 => easgd, variant = sync1, rho = 0.5
change plan.exchange 0 | "parameter-server" => tree
change plan.exchange 0 | start 1 wait 4 => start 0 wait 0
drop plan.shard 0
drop plan.shard 1

// -----

// Valid: EASGD that hides its message behind the step.
change variant = sync1 => variant = sync3
change plan.exchange 0 | tree => ring
change plan.exchange 0 | start 0 wait 0 => start 0 wait 1
