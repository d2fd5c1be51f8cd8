// Plans that keep every rule are accepted.
// RUN: syncline-opt --check-plan %s

// Two buckets, one matrix product after another.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 128 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 3] : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 64 reserve 64 live [1, 1] : memref<4x4xf32>
  plan.bucket 0 members ["v"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w"] by ring channel 0 at 64 extent 64 bytes 64 ready 0.0 start 1.0 end 2.0
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

// P10: the result of a flat loop takes the place of an operand that dies in it.
plan.program @in_place ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 128 : i64, arena = 128 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %w = plan.tensor "w" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %dv = plan.tensor "v" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
  %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
  %r = plan.tensor "r" in arena at 0 reserve 64 live [1, 4] : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 64 reserve 64 live [2, 2] : memref<4x4xf32>
  plan.bucket 0 members ["v"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w"] by ring channel 0 at 64 extent 64 bytes 64 ready 0.0 start 1.0 end 2.0
  plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  plan.pointwise "relu" ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%r : memref<4x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.call matmul "y" ["a", "b", "y"] ins(%r, %v : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  plan.call matmul "dv" ["a", "b", "y"] ins(%r, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>)
  plan.call matmul "dw" ["a", "b", "y"] ins(%r, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>)
  plan.issue 0
  plan.issue 1
  plan.wait 0
  plan.update 0
  plan.wait 1
  plan.update 1
}
