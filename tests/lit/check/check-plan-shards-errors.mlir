// Weights that travel by servers, and EASGD, where the plan breaks rule P31.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %s

// P31b: a form by all-reduces has no servers.
// expected-error @+1 {{P31: expected no servers, since weights travel by all-reduces}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<local, period = 4>, servers = 1 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by ring at 0 extent 128 bytes 96 start 4 wait 4 seconds 0.0 traffic 0.0
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
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P31: expected a start after 1 and a wait after 4 steps}}
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 3 seconds 0.0 traffic 0.0
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

// P31d: nothing bounds an arrival.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<asp>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P31: expected a start after 1 and no wait after any steps}}
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 1 seconds 0.0 traffic 0.0
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

// P31d: sync2 waits before the step.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<easgd, variant = sync2, rho = 0.5>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P31: expected a start after 0 and a wait after 0 steps}}
  plan.exchange 0 members ["w", "v"] by tree at 0 extent 128 bytes 96 start 0 wait 1 seconds 0.0 traffic 0.0
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31f: only servers carry what steps change.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P31: 'ring' cannot carry this consistency}}
  plan.exchange 0 members ["w", "v"] by ring at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
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

// P31f: sync1 sums along a tree.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<easgd, variant = sync1, rho = 0.5>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P31: 'ring' cannot carry this consistency}}
  plan.exchange 0 members ["w", "v"] by ring at 0 extent 128 bytes 96 start 0 wait 0 seconds 0.0 traffic 0.0
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31h: a server has no shard.
// expected-error @+1 {{P31: expected 2 shards, got 1}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>, servers = 2 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.shard 0 at 0 extent 128
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31h: no server has a shard.
// expected-error @+1 {{P31: expected 1 shards, got 0}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31h: servers count from 0.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.shard 0 at 0 extent 64
  // expected-error @+1 {{P31: expected the shard of server 1 here}}
  plan.shard 2 at 64 extent 64
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31h: shards lie one behind the other.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.shard 0 at 0 extent 64
  // expected-error @+1 {{P31: expected a multiple of 64 bytes behind the shard before}}
  plan.shard 1 at 0 extent 64
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31h: shards fill the weights.
// expected-error @+1 {{P31: expected equal shards that fill the weights}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<ssp, upper = 3>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by "parameter-server" at 0 extent 128 bytes 96 start 1 wait 4 seconds 0.0 traffic 0.0
  plan.shard 0 at 0 extent 64
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P31a: only a form by servers has shards.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 512 : i64} attributes {consistency = #sync.consistency<local, period = 4>} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4x2xf32>
  plan.bucket 0 members ["w", "v"] by ring channel 0 at 0 extent 128 bytes 96 ready 0.0 start 0.0 end 1.0
  plan.exchange 0 members ["w", "v"] by ring at 0 extent 128 bytes 96 start 4 wait 4 seconds 0.0 traffic 0.0
  // expected-error @+1 {{P31: expected no shards, since weights travel by all-reduces}}
  plan.shard 0 at 0 extent 128
  plan.phase backward
  plan.call matmul "dw" ["a", "b", "y"] ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x2xf32>) outs(%dv : memref<4x2xf32>)
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}
