// Weights that travel in place of gradients, where the plan breaks rule P31.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Weights travel in two fragments.
module {
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96
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
}

// -----

// P31b: messages cannot hide behind the next step where none travels.
change momentum = 0.9> => momentum = 0.9>, overlap = "step"
error P31: expected no overlap with a consistency

// -----

// P31c: a fragment is left out.
drop plan.exchange 1
change plan.exchange 0 | "w" => "w", "v"
change plan.exchange 0 | extent 64 bytes 64 => extent 128 bytes 96
error plan.program | P31: expected 2 exchanges, got 1

// -----

// P31c: numbers count from 0.
change plan.exchange 1 => plan.exchange 2
error P31: expected exchange 1 here

// -----

// P31d: the second fragment arrives at the end of its own window.
change plan.exchange 1 | start 7 => start 6
error P31: expected a start after 7 and a wait after 8 steps

// -----

// P31e: members stand in the order of their places.
change plan.exchange 0 | "w" => "v"
error P31: expected member 'w' in the order of places, got 'v'

// -----

// P31e: a message has all bytes of its members.
change plan.exchange 1 | bytes 32 => bytes 64
error P31: expected the members' 32 bytes, in an extent of 64

// -----

// P31a: only a program with a consistency exchanges weights.
drop plan.program | attributes {consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>}
error plan.exchange 0 | P31: expected a consistency that says when weights travel

// -----

// P31f: an exchange takes what the cluster says.
change module => module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>}
error plan.exchange 0 | P31: expected 1.000000e+00 s

// -----

// P31f: factors are no weights.
change module => module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>}
change plan.exchange 0 | ring => factors
error P31: 'factors' cannot carry this consistency

// -----

// P31f: NCCL carries weights by all-reduces alone.
drop plan.exchange 1
change module => module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>, nccl = true>}
change diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9 => asp
change plan.exchange 0 | "w" => "w", "v"
change plan.exchange 0 | ring => "parameter-server"
change plan.exchange 0 | extent 64 bytes 64 start 3 wait 4 => extent 128 bytes 96 start 1
before plan.phase backward | plan.shard 0 at 0 extent 64
before plan.phase backward | plan.shard 1 at 64 extent 64
error plan.exchange 0 | P31: NCCL has no servers that hold weights
