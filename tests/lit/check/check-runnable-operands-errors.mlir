// Operations whose operands or attributes do not fit: P28.
// RUN: syncline-opt --check-runnable --split-input-file --verify-diagnostics %s

// An operand that the kernel does not have.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: matmul 'fc': takes no operand 'c' at this place}}
  plan.call matmul "fc" ["a", "c", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
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

// Operands in another order.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: matmul 'fc': takes no operand 'b' at this place}}
  plan.call matmul "fc" ["b", "a", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
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

// An operand that is missing.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: crossEntropy 'loss': expected an operand 'target'}}
  plan.call crossEntropy "loss" ["logits", "loss", "dlogits"] ins(%y : memref<4x4xf32>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// A product of matrices that do not fit (NN12).
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x2xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  // expected-error @+1 {{P28: matmul 'fc': NN12: inner dimensions differ: 2 and 4}}
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x2xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x2xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// Labels that are no numbers of classes.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  // expected-error @+1 {{P28: crossEntropy 'loss': expected elements of i64 in 'target', got 'f32'}}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xf32>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// As many labels as predictions (NN30).
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4x2xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  // expected-error @+1 {{P28: crossEntropy 'loss': NN30: expected integer targets of shape 4}}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4x2xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// An axis that is none (NN15).
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: softmax 'fc': NN15: expected an axis within the operand's rank, got 7}}
  plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {axis = 7 : i64}
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

// An attribute that is missing.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: softmax 'fc': requires attribute 'axis'}}
  plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
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

// An attribute of another kind.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: softmax 'fc': requires attribute 'axis'}}
  plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {axis = "one"}
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

// A window beyond 32 bits.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: matmul 'fc': expected 'strides' from 0 to 2147483647, got 2147483648}}
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {strides = array<i64: 2147483648>}
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

// A loop whose operand does not broadcast to its result.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 4] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 0.0 start 0.0 end 1.0
  plan.phase forward
  plan.call matmul "fc" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {transpose_b}
  plan.call crossEntropy "loss" ["logits", "target", "loss", "dlogits"] ins(%y, %t : memref<4x4xf32>, memref<4xi64>) outs(%l, %dy : memref<f32>, memref<4x4xf32>)
  plan.loss %l : memref<f32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  // expected-error @+1 {{P28: loop 'add': operand 'memref<4x4xf32>' does not fit the body's 'f64' and a result of 4x4}}
  plan.pointwise "add" ins(%l, %x : memref<f32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {
  ^bb0(%a: f32, %b: f64):
    plan.yield %a : f32
  }
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// A loop that yields another type.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: loop 'add': result 'memref<4x4xf32>' does not fit the body's 'f64' and a result of 4x4}}
  plan.pointwise "add" ins(%x : memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {
  ^bb0(%a: f32):
    %b = arith.extf %a : f32 to f64
    plan.yield %b : f64
  }
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}

// -----

// A loss of several elements.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
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
  // expected-error @+1 {{P28: expected one element of f32, got 'memref<4x4xf32>'}}
  plan.loss %y : memref<4x4xf32>
  plan.phase backward
  plan.call matmul "fc" ["a", "b", "y"] ins(%dy, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {transpose_a}
  plan.issue 0
  plan.phase update
  plan.wait 0
  plan.update 0
}
