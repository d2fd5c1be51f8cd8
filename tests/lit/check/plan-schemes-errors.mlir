// Operations that the plan dialect's verifiers refuse: P1, P3, P4, P6, P14, P21.
// RUN: syncline-opt --split-input-file --verify-diagnostics %patched

// Base: A gradient that travels by factors.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 9] : memref<4x4xf32>
  %r = plan.tensor "r" in arena at 64 reserve 64 live [0, 9] : memref<4x4xf32>
  %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [0, 9] : memref<8x4xf32>
  %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [0, 9] : memref<8x4xf32>
  plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
  plan.wait 0
  plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.update 0
}

// -----

// P14: one result a factor.
change plan.gather 0 | %xs, %hs => %xs
change plan.gather 0 | memref<8x4xf32>, memref<8x4xf32> => memref<8x4xf32>
error P14: expected one result an operand, got 1 for 2

// -----

// P14: room for all ranks.
change plan.gather 0 | %xs, %hs => %xs, %r
change plan.gather 0 | memref<8x4xf32>, memref<8x4xf32> => memref<8x4xf32>, memref<4x4xf32>
error P14: expected 'memref<8x4xf32>' for 2 ranks' 'memref<4x4xf32>', got 'memref<4x4xf32>'

// -----

// P4: a scheme that a runtime can carry out.
change plan.bucket 0 | factors => "gossip"
error expected a scheme, one of ring, recursive-doubling, halving-doubling, tree, reduce-scatter, hierarchical, parameter-server, factors, sparse, library, got 'gossip'

// -----

// P14: something to gather along.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<f32>
  // expected-error @below {{P14: expected a first dimension to gather along, got 'memref<f32>'}}
  plan.gather 0 ins(%x : memref<f32>) outs(%x : memref<f32>)
}

// -----

// P1: servers are counted from one.
// expected-error @below {{P1: expected at least one server, or none named, got 0}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 384 : i64} attributes {servers = 0 : i64} {
}

// -----

// P3: a tensor of the arena without a lifetime.
drop "h" in arena | live [0, 9]
error P3: an arena tensor has a lifetime, and no other

// -----

// P3: an input with a lifetime.
change "x" in input | reserve 64 => reserve 64 live [0, 9]
error P3: an arena tensor has a lifetime, and no other

// -----

// P3: a lifetime that ends before it begins.
change "h" in arena | live [0, 9] => live [2, 1]
error P3: expected a lifetime [first, last]

// -----

// P6a: an operand without a role.
change matmul "h" | ["a", "b", "y"] => ["a", "b"]
error P6: expected one role an operand, got 2 for 3

// -----

// P6b: a loop's body takes one value for each operand.
before plan.update 0 | plan.pointwise "h" ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>) {
before plan.update 0 | ^bb0(%e: f32, %f: f32):
before plan.update 0 | plan.yield %e : f32
before plan.update 0 | }
error plan.pointwise "h" | P6: expected one body argument an operand and one yielded value a result

// -----

// P6c: a flat loop counts the elements of one shape.
before plan.update 0 | plan.pointwise "h" ins(%xs : memref<8x4xf32>) outs(%h : memref<4x4xf32>) attributes {flat} {
before plan.update 0 | ^bb0(%e: f32):
before plan.update 0 | plan.yield %e : f32
before plan.update 0 | }
error plan.pointwise "h" | P6: operands of a flat loop have one shape, got 'memref<8x4xf32>' beside 'memref<4x4xf32>'

// -----

// Base: An update that takes a second.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
  plan.update 0 {seconds = 1.0 : f64}
}

// -----

// P21: an update that takes less than no time.
change plan.update 0 | seconds = 1.0 => seconds = -1.0
error P21: expected finite seconds that are not negative, got -1.000000e+00 : f64

// -----

// P21: an update that takes no number of seconds.
change plan.update 0 | seconds = 1.0 => seconds = 0x7FF8000000000000
error P21: expected finite seconds that are not negative, got 0x7FF8000000000000 : f64

// -----

// P21: an update for ever.
change plan.update 0 | seconds = 1.0 => seconds = 0x7FF0000000000000
error P21: expected finite seconds that are not negative, got 0x7FF0000000000000 : f64

// -----

// P21: seconds that are no f64.
change plan.update 0 | seconds = 1.0 : f64 => seconds = 1 : i64
error attribute 'seconds' failed to satisfy constraint: 64-bit float attribute

// -----

// P21: a kernel.
after plan.bucket 0 | plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = -1.0 : f64}
error P21: expected finite seconds that are not negative, got -1.000000e+00 : f64

// -----

// P21: a loop.
before plan.update 0 | plan.pointwise "h" ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>) attributes {seconds = 0x7FF8000000000000 : f64} {
before plan.update 0 | ^bb0(%e: f32):
before plan.update 0 | plan.yield %e : f32
before plan.update 0 | }
error plan.pointwise "h" | P21: expected finite seconds that are not negative, got 0x7FF8000000000000 : f64

// -----

// A misspelled attribute.
change plan.update 0 | seconds = 1.0 => second = 1.0
error has no attribute 'second'

// -----

// An attribute of no operation.
change plan.update 0 | seconds = 1.0 => plan.seconds = 1.0
error unknown attribute 'plan.seconds'
