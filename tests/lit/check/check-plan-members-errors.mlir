// Plans that break a rule about what is in a bucket: P4, P8, P12.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: Two buckets.
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

// P8: no gradient is in two buckets.
change plan.bucket 1 | members ["w"] => members ["v", "w"]
error P8: gradient 'v' is synchronised twice
note plan.bucket 0 | first by this bucket

// -----

// P8: every gradient is in a bucket.
drop plan.bucket 0
drop plan.issue 0
drop plan.wait 0
drop plan.update 0
error "v" in parameters | P8: 'v' is synchronised by no bucket

// -----

// P8: a bucket holds nothing but gradients of parameters.
change plan.bucket 1 | "w" => "u"
error P8: member 'u' has no parameter of that name

// -----

// P8: a tensor says the bucket that lists it.
change "w" in gradients | bucket = 1 => bucket = 0
error P8: expected bucket 1
note plan.bucket 1 | which lists 'w'

// -----

// P12: parameters lie as their gradients do.
change parameters = 128 => parameters = 192
change "w" in parameters | at 64 => at 128
error P12: expected the place of its gradient
note "w" in gradients | the gradient

// -----

// P12: members lie within their bucket.
change gradients = 128 => gradients = 192
change "w" in gradients | at 64 => at 128
error P12: lies outside its bucket's interval
note plan.bucket 1 | the bucket

// -----

// P12: members do not overlap.
change "w" in parameters | at 64 => at 0
change plan.bucket 1 | at 64 => at 0
change "w" in gradients | at 64 => at 0
error P12: overlaps another gradient
note "v" in gradients | this one

// -----

// P12: a bucket's size is its members'.
change plan.bucket 0 | bytes 64 => bytes 60
error P12: expected the members' 64 bytes, got 60

// -----

// P12: buckets do not overlap.
change plan.bucket 0 | extent 64 => extent 128
note this one
error plan.bucket 1 | P12: overlaps another bucket

// -----

// P4: one declaration a bucket.
change plan.bucket 1 => plan.bucket 0
error P4: bucket 0 is declared twice
note plan.bucket 0 members ["v"] | first here
