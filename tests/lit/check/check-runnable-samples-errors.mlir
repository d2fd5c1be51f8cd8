// Programs whose samples, predictions or loss a run would refuse: P25.
// RUN: syncline-opt --check-runnable --split-input-file --verify-diagnostics %s

// P25: the input holds the batch.
// expected-note @+1 {{the program}}
plan.program @p ranks 2 batch 8 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  // expected-error @+1 {{P25: expected the batch, 8, as first dimension of 'x', got 'memref<4x4xf32>'}}
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P25: a loss is computed from the output.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  // expected-error @+1 {{P25: computes a loss, but no tensor is the program's output}}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P25: there is one output.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  // expected-note @+1 {{another one}}
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  // expected-error @+1 {{P25: expected one output, in the arena}}
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] {output} : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P25: the output is what the loss is computed from.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  // expected-error @+1 {{P25: the output 'dy' is not what the loss is computed from}}
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] {output} : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  // expected-note @+1 {{the loss}}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// P25: a step reports its loss.
// expected-error @+1 {{P25: expected one loss that is reported, got 0}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 1] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 1] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 2] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}
