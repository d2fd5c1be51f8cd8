// Plans that break a rule about memory or ranks: P2, P9, P10, P13.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Two buckets, one matrix product after another.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 128 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 3] : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 64 reserve 64 live [1, 1] : memref<4x4xf32>
  plan.bucket 0 members ["v"] by ring channel 0 at 0 extent 64 bytes 64
  plan.bucket 1 members ["w"] by ring channel 0 at 64 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.call matmul "y" ["a", "b", "y"] ins(%h, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>)
  plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.issue 1
  plan.wait 0
  plan.update 0
  plan.wait 1
  plan.update 1
}

// -----

// P9: a tensor is written before it is read.
move matmul "h" | after matmul "y"
error matmul "y" | P9: reads 'h' before it is written
note "h" in arena | declared here

// -----

// P9: an arena tensor is touched within its lifetime only.
change "h" in arena | live [0, 3] => live [0, 2]
note declared here
error matmul "dw" | P9: operation 3 touches 'h' outside its lifetime [0, 2]

// -----

// P9: a step does not write its input.
change matmul "h" | %h => %x
error P9: writes 'x' of space 'input'
note "x" in input | declared here

// -----

// P10: tensors that live at one time lie apart.
change "y" in arena | at 64 => at 0
error P10: 'y' overlaps 'h' in space and time
note "h" in arena | declared here

// -----

// P10: what is kept between steps never overlaps.
before "v" in parameters | %s1 = plan.tensor "s1" in state at 0 reserve 128 : memref<4x4xf32>
before "v" in parameters | %s2 = plan.tensor "s2" in state at 64 reserve 64 : memref<4x4xf32>
error P10: 's2' overlaps 's1' in space and time
note "s1" in state | declared here

// -----

// P13: a plan holds plan operations only: nothing in it can depend on the rank.
after "x" in input | %rank = arith.constant 3 : i64
error P13: expected an operation of the plan dialect, got 'arith.constant'

// -----

// Base: The result of a flat loop takes the place of an operand that dies in it.
change "h" in arena | live [0, 3] => live [0, 1]
after "h" in arena | %r = plan.tensor "r" in arena at 0 reserve 64 live [1, 4] : memref<4x4xf32>
change "y" in arena | live [1, 1] => live [2, 2]
before matmul "y" | plan.pointwise "relu" ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%r : memref<4x4xf32>) attributes {flat} {
before matmul "y" | ^bb0(%a: f32, %b: f32):
before matmul "y" | %s = arith.addf %a, %b : f32
before matmul "y" | plan.yield %s : f32
before matmul "y" | }
change matmul "y" | %h => %r
change matmul "dv" | %h => %r
change matmul "dw" | %h => %r

// -----

// P10: only a flat loop may overwrite an operand.
drop plan.pointwise "relu" | attributes {flat}
error "r" in arena | P10: 'r' overlaps 'h' in space and time
note "h" in arena | declared here

// -----

// P10: the operand must die in the loop.
change "h" in arena | live [0, 1] => live [0, 2]
note declared here
error "r" in arena | P10: 'r' overlaps 'h' in space and time

// -----

// P2: an end beyond the largest number is beyond the space.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 0 : i64, gradients = 0 : i64, state = 0 : i64, arena = 0 : i64} {
  // expected-error @below {{P2: reserves 128 bytes at 9223372036854775744 of a space of 64}}
  %x = plan.tensor "x" in input at 9223372036854775744 reserve 128 : memref<4x4xf32>
}

// -----

// Base: Rows are added onto a tensor that dies there, in its place.
plan.program @p ranks 2 batch 4 spaces {input = 128 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 0 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %i = plan.tensor "i" in input at 64 reserve 64 : memref<4xi64>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
  %r = plan.tensor "r" in arena at 0 reserve 64 live [1, 2] : memref<4x4xf32>
  plan.bucket 0 members ["v"] by ring channel 0 at 0 extent 64 bytes 64
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.call embeddingBackward "r" ["ids", "dy", "onto", "dtable"] ins(%i, %x, %h : memref<4xi64>, memref<4x4xf32>, memref<4x4xf32>) outs(%r : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%x, %r : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>)
  plan.issue 0
  plan.wait 0
  plan.update 0
}

// -----

// P10: what rows are added onto must die there.
change "h" in arena | live [0, 1] => live [0, 2]
change matmul "dv" | %x => %h
error "r" in arena | P10: 'r' overlaps 'h' in space and time
note "h" in arena | declared here

// -----

// P10: only what rows are added onto leaves its place, not the rows.
change embeddingBackward "r" | %x, %h => %h, %x
error "r" in arena | P10: 'r' overlaps 'h' in space and time
note "h" in arena | declared here
