// Messages by schemes that NCCL has not, where it carries them: P24.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: NCCL has a ring.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, nccl = true>} {
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.wait 0
  plan.update 0
}
}

// -----

// P24: NCCL has no recursive doubling.
change plan.bucket 0 | ring => "recursive-doubling"
error P24: travels by 'recursive-doubling', which NCCL, who carries the messages, has not

// -----

// P24: it has no halving and doubling.
change plan.bucket 0 | ring => "halving-doubling"
error P24: travels by 'halving-doubling', which NCCL, who carries the messages, has not

// -----

// P24: it has no hierarchy.
change plan.bucket 0 | ring => hierarchical
error P24: travels by 'hierarchical', which NCCL, who carries the messages, has not

// -----

// Valid: A tree.
change plan.bucket 0 | ring => tree

// -----

// Valid: What servers need.
change plan.bucket 0 | ring => "parameter-server"

// -----

// P24: servers are ranks.
change plan.bucket 0 | ring => "parameter-server"
change plan.program | arena = 64 : i64} => arena = 64 : i64} attributes {servers = 1 : i64}
error P24: has servers of its own, which NCCL, who carries the messages, does not know

// -----

// Valid: Others have more.
drop module | , nccl = true
change plan.bucket 0 | ring => "halving-doubling"

// -----

// Valid: The algorithm that NCCL chooses exists where NCCL carries the messages.
change plan.bucket 0 | ring => library

// -----

// P24: elsewhere it does not.
drop module | , nccl = true
change plan.bucket 0 | ring => library
error P24: travels by 'library', which is NCCL's choice, but NCCL does not carry the messages
