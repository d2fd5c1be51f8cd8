// Programs whose memory a run would refuse, or fill wrongly: P26, P27.
// RUN: syncline-opt --check-runnable --split-input-file --verify-diagnostics %s

// P26: a space is as large as what lies in it.
// expected-error @+1 {{P26: space 'arena' has 256 bytes, but what lies in it ends at byte 192}}
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 256 : i64} {
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

// P26: lifetimes end with the program.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  // expected-error @+1 {{P26: 'dy' lives in [1, 7], expected operations from 0 to 6}}
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 7] : memref<4x4xf32>
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

// P26: a gradient takes its own bytes.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 128 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  // expected-error @+1 {{P26: reserves 128 bytes, expected 64}}
  %dw = plan.tensor "w" in gradients at 0 reserve 128 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 128 bytes 64 ready 0.0 start 0.0 end 1.0
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

// P26: members fill their bucket.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  // expected-error @+1 {{P26: has an extent of 128 bytes, but its members fill 64}}
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 128 bytes 64 ready 0.0 start 0.0 end 1.0
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

// P27: a parameter begins with something.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  // expected-error @+1 {{P27: 'w' is expected to begin with 'values' or 'init', one of them}}
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
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

// P27: and not with two things.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  // expected-error @+1 {{P27: 's' is expected to begin with 'values' or 'init', one of them}}
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64, init = #nn.init<constant, 0.0 : f64, 0.0 : f64>} : memref<4x4xf32>
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

// P27: what is computed has nothing to begin with.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  // expected-error @+1 {{P27: 'dy' is no parameter or state, and has values to begin}}
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] {values = 0 : i64} : memref<4x4xf32>
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

// P27: values begin in the file.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  // expected-error @+1 {{P27: 'w' has values before the file begins}}
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = -64 : i64} : memref<4x4xf32>
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

// P27: each tensor has its own.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  // expected-error @+1 {{P27: the values of 'w' overlap those of 's'}}
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 48 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  // expected-note @+1 {{declared here}}
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

// P27: a constant has its own type.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  // expected-error @+1 {{P27: 's' begins with what is neither '#nn.init' nor elements of its type}}
  %s = plan.tensor "s" in state at 0 reserve 64 {init = dense<0.0> : tensor<2x4xf32>} : memref<4x4xf32>
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

// P27: names tell stored tensors apart.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  // expected-note @+1 {{first here}}
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  // expected-error @+1 {{P27: 'w' is stored twice}}
  %s = plan.tensor "w" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
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
