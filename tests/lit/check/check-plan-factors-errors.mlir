// Plans that break a rule about factors: P14, P15, P16, and what P7 and P9 say of gathers.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

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

// P14: what travels by factors is gathered.
drop plan.gather 0
drop matmul "dw"
before plan.wait 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
before plan.wait 0 | plan.issue 0
error P14: issues bucket 0, which travels by 'factors'
note plan.bucket 0 | declared here

// -----

// P14: and nothing else.
drop matmul "dw"
change plan.bucket 0 | factors => ring
after matmul "h" | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
error plan.gather 0 | P14: gathers bucket 0, which travels by 'ring'
note plan.bucket 0 | declared here

// -----

// P15: the channel reads factors until the wait.
after plan.gather 0 | plan.call reshape "h" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>)
error P15: writes 'h' while bucket 0 gathers it
note plan.gather 0 | gathered here

// -----

// P15: nobody knows what has arrived before the wait.
after plan.gather 0 | plan.call slice "r" ["x", "y"] ins(%hs : memref<8x4xf32>) outs(%r : memref<4x4xf32>) {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>}
error P15: touches 'h.gathered' while bucket 0 is gathered into it
note plan.gather 0 | gathered here

// -----

// P15: what is written there meanwhile is lost, or overwrites what has arrived.
after plan.gather 0 | plan.call concat "xs" ["x", "x", "y"] ins(%h, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs : memref<8x4xf32>) {axis = 0 : i64}
error P15: touches 'x.gathered' while bucket 0 is gathered into it
note plan.gather 0 | gathered here

// -----

// P15: an update of another bucket may write parameters at any time.
change plan.gather 0 | %x => %w
error P15: gathers 'w' of space 'parameters', which messages and updates write
note "w" in parameters | declared here

// -----

// P15: only the arena has room for all ranks.
change state = 64 => state = 128
change "x.gathered" in arena | arena at 128 => state at 0
drop "x.gathered" in state | live [0, 9]
note declared here
error plan.gather 0 | P15: expected what 'x.gathered' holds in the arena

// -----

// P9: a factor lives until its message has arrived.
change "h" in arena | live [0, 9] => live [0, 1]
note declared here
error plan.wait 0 | P9: operation 2 touches 'h' outside its lifetime [0, 1]

// -----

// P9: room for all ranks is there from the gather on.
change "x.gathered" in arena | live [0, 9] => live [2, 9]
change "h.gathered" in arena | live [0, 9] => live [2, 9]
error plan.gather 0 | P9: operation 1 touches 'x.gathered' outside its lifetime [2, 9]
note "x.gathered" in arena | declared here

// -----

// P9: a factor is written before it is gathered.
drop matmul "h"
after plan.gather 0 | plan.call reshape "r" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
after plan.wait 0 | plan.call reshape "h" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%h : memref<4x4xf32>)
error plan.gather 0 | P9: reads 'h' before it is written
note "h" in arena | declared here

// -----

// P7: a bucket is gathered once.
note plan.gather 0 | first here
after plan.gather 0 | plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
error P7: bucket 0 is issued twice

// -----

// P16: a gradient of this rank alone is no sum.
after matmul "h" | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
error P16: writes 'w' before the factors of bucket 0 have arrived
note plan.wait 0 | waited for here

// -----

// P16: likewise while the factors travel.
drop matmul "dw"
after plan.gather 0 | plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
error P16: writes 'w' before the factors of bucket 0 have arrived
note plan.wait 0 | waited for here

// -----

// P16: what is computed from one rank's samples alone is no sum, whenever it is computed.
change matmul "dw" | hs, %xs : memref<8x4xf32>, memref<8x4xf32> => h, %x : memref<4x4xf32>, memref<4x4xf32>
error P16: computes 'w' from 'h', which is this rank's alone
note "h" in arena | declared here

// -----

// P16: not by way of another tensor either.
drop matmul "dw"
before plan.update 0 | plan.call reshape "r" ["x", "y"] ins(%h : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
before plan.update 0 | plan.call reshape "dw" ["x", "y"] ins(%r : memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
error P16: computes 'w' from 'r', which is this rank's alone
note "r" in arena | declared here

// -----

// P16: what comes after the update is not in it.
move matmul "dw" | after plan.update 0
error P16: writes 'w' after the update of bucket 0
note plan.update 0 | updated here

// -----

// P16: gathering alone makes no gradient.
drop matmul "dw"
error plan.update 0 | P16: updates bucket 0, but nothing computes 'w'
note "w" in gradients | this gradient

// -----

// P16: a constant is no sum of anybody's gradients.
drop matmul "dw"
before plan.update 0 | plan.pointwise "dw" outs(%dw : memref<4x4xf32>) attributes {flat} {
before plan.update 0 | %zero = arith.constant 0.0 : f32
before plan.update 0 | plan.yield %zero : f32
before plan.update 0 | }
error plan.pointwise "dw" | P16: computes 'w' from nothing that was gathered
note plan.gather 0 | gathered here

// -----

// P16: nor by way of another tensor.
drop matmul "dw"
before plan.update 0 | plan.pointwise "r" outs(%r : memref<4x4xf32>) attributes {flat} {
before plan.update 0 | %zero = arith.constant 0.0 : f32
before plan.update 0 | plan.yield %zero : f32
before plan.update 0 | }
before plan.update 0 | plan.call transpose "dw" ["x", "y"] ins(%r : memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
error P16: computes 'w' from 'r', which is this rank's alone
note "r" in arena | declared here
