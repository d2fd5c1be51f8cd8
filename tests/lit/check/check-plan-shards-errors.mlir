// Weights that travel by servers, and EASGD, where the plan breaks rule P31.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Weights travel by two servers.
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

// P31d: a lead of 3 steps is used after 4 steps at the latest.
change plan.exchange 0 | wait 4 => wait 3
error P31: expected a start after 1 and a wait after 4 steps

// -----

// P31d: nothing bounds an arrival.
change ssp, upper = 3 => asp
change plan.exchange 0 | wait 4 => wait 1
error P31: expected a start after 1 and no wait after any steps

// -----

// P31f: only servers carry what steps change.
change plan.exchange 0 | "parameter-server" => ring
error P31: 'ring' cannot carry this consistency

// -----

// P31h: a server has no shard.
drop plan.shard 1
change plan.shard 0 | extent 64 => extent 128
change upper = 3> => upper = 3>, servers = 2 : i64
error P31: expected 2 shards, got 1

// -----

// P31h: no server has a shard.
drop plan.shard 0
drop plan.shard 1
error plan.program | P31: expected 1 shards, got 0

// -----

// P31h: servers count from 0.
change plan.shard 1 => plan.shard 2
error P31: expected the shard of server 1 here

// -----

// P31h: shards lie one behind the other.
change plan.shard 1 | at 64 => at 0
error P31: expected a multiple of 64 bytes behind the shard before

// -----

// P31h: shards fill the weights.
drop plan.shard 1
error plan.program | P31: expected equal shards that fill the weights

// -----

// Base: Weights travel by all-reduces.
change ssp, upper = 3 => local, period = 4
change plan.exchange 0 | "parameter-server" => ring
change plan.exchange 0 | start 1 => start 4
drop plan.shard 0
drop plan.shard 1

// -----

// P31a: only a form by servers has shards.
after plan.exchange 0 | plan.shard 0 at 0 extent 128
error P31: expected no shards, since weights travel by all-reduces

// -----

// P31b: a form by all-reduces has no servers.
change period = 4> => period = 4>, servers = 1 : i64
error P31: expected no servers, since weights travel by all-reduces

// -----

// P31d: sync2 waits before the step.
change local, period = 4 => easgd, variant = sync2, rho = 0.5
change plan.exchange 0 | ring => tree
change plan.exchange 0 | start 4 wait 4 => start 0 wait 1
error P31: expected a start after 0 and a wait after 0 steps

// -----

// P31f: sync1 sums along a tree.
change local, period = 4 => easgd, variant = sync1, rho = 0.5
change plan.exchange 0 | start 4 wait 4 => start 0 wait 0
error P31: 'ring' cannot carry this consistency
