// Plans that break P35, gradients in two parts, or what P7 and P36 say of them.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: The rows of a gradient travel by themselves.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  } // End of the loop.
  plan.update 0
}

// -----

// P35: rows of a gradient that does not exist.
change plan.bucket 1 | "w:rows" => "v:rows"
error P35: brings 'v:rows', but there is no such gradient

// -----

// P35: rows by another scheme.
drop plan.gather 1
drop embeddingBackward "w"
change plan.bucket 1 | sparse => ring
drop plan.bucket 1 | {rows = 4 : i64}
after plan.issue 0 | plan.issue 1
error plan.bucket 1 | P35: expected rows to travel alone, by 'sparse'

// -----

// P35: other bytes than a rank gathers.
change plan.bucket 1 | bytes 96 => bytes 95
error P35: expected no extent, and the 96 B that a rank gathers, got an extent of 0 and 95 B

// -----

// P35: an update of its own.
after plan.update 0 | plan.update 1
error P35: updates bucket 1, whose rows are part of another bucket's update
note plan.bucket 1 | declared here

// -----

// P35: rows that nobody adds.
drop plan.pointwise "w"
drop ^bb0
drop %s =
drop plan.yield
drop } // End of the loop.
error plan.bucket 1 | P35: no loop adds the rows to 'w'
note "w" in gradients | this gradient

// -----

// P35: added before the rows have arrived.
move plan.wait 1 | after } // End of the loop.
move embeddingBackward "w" | after plan.wait 1
error plan.pointwise "w" | P35: adds rows to 'w' before bucket 1 has arrived
note plan.wait 1 | waited for here

// -----

// P35: added behind the update.
move plan.update 0 | after embeddingBackward "w"
note updated here
error plan.pointwise "w" | P35: adds rows to 'w' behind its update

// -----

// P35: another function than the sum.
change arith.addf => arith.mulf
error plan.pointwise "w" | P35: expected the sum of 'w' and rows
note plan.bucket 1 | which brings the rows

// -----

// P35: something else than the rows.
change plan.pointwise "w" | %sums => %head
error P35: adds 'head' to 'w', which are not the sums of the rows that bucket 1 brings
note plan.gather 1 | gathered here

// -----

// P7: rows that are added twice.
note plan.pointwise "w" | written here
before plan.update 0 | plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
before plan.update 0 | ^bb0(%a: f32, %b: f32):
before plan.update 0 | %s = arith.addf %a, %b : f32
before plan.update 0 | plan.yield %s : f32
before plan.update 0 | } // End of the loop.
error plan.issue 0 | P7: issues bucket 0 before 'w' is complete

// -----

// P35: written behind the sum, by factors.
drop plan.issue 0
change arena = 576 => arena = 1024
change plan.bucket 0 | ring => factors
change sliceBackward "head" | %dw => %left
change sliceBackward "head" | memref<12x4xf32> => memref<2x12xf32>
before plan.bucket 0 | %left = plan.tensor "a" in arena at 576 reserve 128 live [0, 9] : memref<2x12xf32>
before plan.bucket 0 | %as = plan.tensor "a.gathered" in arena at 704 reserve 192 live [0, 9] : memref<4x12xf32>
before plan.bucket 0 | %ys = plan.tensor "y.gathered" in arena at 896 reserve 64 live [0, 9] : memref<4x4xf32>
after sliceBackward "head" | plan.gather 0 ins(%left, %y : memref<2x12xf32>, memref<2x4xf32>) outs(%as, %ys : memref<4x12xf32>, memref<4x4xf32>)
after plan.wait 0 | plan.call matmul "head" ["a", "b", "y"] ins(%as, %ys : memref<4x12xf32>, memref<4x4xf32>) outs(%dw : memref<12x4xf32>) {transpose_a}
after } // End of the loop. | plan.call matmul "head" ["a", "b", "y"] ins(%as, %ys : memref<4x12xf32>, memref<4x4xf32>) outs(%dw : memref<12x4xf32>) {transpose_a}
error P35: writes 'w' behind the sum with its rows
note plan.pointwise "w" | this one

// -----

// P36b: rows would be added to a sum in each micro-batch.
change plan.program | arena = 576 : i64} => arena = 576 : i64} attributes {accumulate = 2 : i64}
error plan.bucket 1 | P36: expected no gradient in two parts with 'accumulate', got 'w:rows', which would be added in each micro-batch
