// Programs that a run would refuse, or whose memory it would fill wrongly: P25 to P28.
// RUN: syncline-opt --check-runnable --split-input-file --verify-diagnostics %patched

// Base: A product and a cross-entropy.
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 192 : i64} {
  %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
  %t = plan.tensor "t" in target at 0 reserve 64 : memref<4xi64>
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64, values = 64 : i64} : memref<4x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %s = plan.tensor "s" in state at 0 reserve 64 {values = 0 : i64} : memref<4x4xf32>
  %y = plan.tensor "y" in arena at 0 reserve 64 live [0, 2] {output} : memref<4x4xf32>
  %l = plan.tensor "l" in arena at 64 reserve 64 live [1, 2] : memref<f32>
  %dy = plan.tensor "dy" in arena at 128 reserve 64 live [1, 3] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
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

// P25: the input holds the batch.
change batch 4 => batch 8
note the program
error "x" in input | P25: expected the batch, 8, as first dimension of 'x', got 'memref<4x4xf32>'

// -----

// P25: a loss is computed from the output.
drop "y" in arena | {output}
error crossEntropy "loss" | P25: computes a loss, but no tensor is the program's output

// -----

// P25: there is one output.
change "dy" in arena | live [1, 3] => live [1, 3] {output}
error P25: expected one output, in the arena
note "y" in arena | another one

// -----

// P25: the output is what the loss is computed from.
drop "y" in arena | {output}
change "dy" in arena | live [1, 3] => live [1, 3] {output}
error P25: the output 'dy' is not what the loss is computed from
note crossEntropy "loss" | the loss

// -----

// P25: a step reports its loss.
drop plan.loss
change "y" in arena | live [0, 2] => live [0, 1]
change "l" in arena | live [1, 2] => live [1, 1]
change "dy" in arena | live [1, 3] => live [1, 2]
error plan.program | P25: expected one loss that is reported, got 0

// -----

// P26: a space is as large as what lies in it.
change arena = 192 => arena = 256
error P26: space 'arena' has 256 bytes, but what lies in it ends at byte 192

// -----

// P26: lifetimes end with the program.
change "dy" in arena | live [1, 3] => live [1, 7]
error P26: 'dy' lives in [1, 7], expected operations from 0 to 6

// -----

// P26: a gradient takes its own bytes.
change parameters = 64 => parameters = 128
change gradients = 64 => gradients = 128
change "w" in parameters | reserve 64 => reserve 128
change plan.bucket 0 | extent 64 => extent 128
change "w" in gradients | reserve 64 => reserve 128
error P26: reserves 128 bytes, expected 64

// -----

// P26: members fill their bucket.
change plan.bucket 0 | extent 64 => extent 128
error P26: has an extent of 128 bytes, but its members fill 64

// -----

// P27: a parameter begins with something.
change "w" in parameters | bucket = 0 : i64, values = 64 : i64 => bucket = 0 : i64
error P27: 'w' is expected to begin with 'values' or 'init', one of them

// -----

// P27: and not with two things.
change "s" in state | values = 0 : i64 => values = 0 : i64, init = #nn.init<constant, 0.0 : f64, 0.0 : f64>
error P27: 's' is expected to begin with 'values' or 'init', one of them

// -----

// P27: what is computed has nothing to begin with.
change "dy" in arena | live [1, 3] => live [1, 3] {values = 0 : i64}
error P27: 'dy' is no parameter or state, and has values to begin

// -----

// P27: values begin in the file.
change "w" in parameters | values = 64 => values = -64
error P27: 'w' has values before the file begins

// -----

// P27: each tensor has its own.
change "w" in parameters | values = 64 => values = 48
error P27: the values of 'w' overlap those of 's'
note "s" in state | declared here

// -----

// P27: a constant has its own type.
change "s" in state | values = 0 : i64 => init = dense<0.0> : tensor<2x4xf32>
error P27: 's' begins with what is neither '#nn.init' nor elements of its type

// -----

// P27: a fixed tensor is a state that has values.
change "s" in state | values = 0 : i64 => init = #nn.init<constant, 0.0 : f64, 0.0 : f64>, fixed
error P27: 's' is fixed, expected a state with 'values'

// -----

// P27: a parameter is not fixed.
change "w" in parameters | values = 64 : i64 => values = 64 : i64, fixed
error P27: 'w' is fixed, expected a state with 'values'

// -----

// P27: nothing writes a constant that has its values in the file ..
change "s" in state | values = 0 : i64 => values = 0 : i64, fixed
change outs(%y => outs(%s
error P27: writes 's', which is a constant
note "s" in state | declared here

// -----

// P27: .. nor one that has them here.
change "s" in state | values = 0 : i64 => init = dense<0.0> : tensor<4x4xf32>
change outs(%y => outs(%s
error P27: writes 's', which is a constant
note "s" in state | declared here

// -----

// P27: names tell stored tensors apart.
change "s" in state | "s" => "w"
error P27: 'w' is stored twice
note "w" in parameters | first here

// -----

// P28: an operand that the kernel does not have.
change outs(%y | "b" => "c"
error P28: matmul 'fc': takes no operand 'c' at this place

// -----

// P28: operands in another order.
change outs(%y | "a", "b" => "b", "a"
error P28: matmul 'fc': takes no operand 'b' at this place

// -----

// P28: an operand that is missing.
change crossEntropy "loss" | "logits", "target" => "logits"
change crossEntropy "loss" | %y, %t : memref<4x4xf32>, memref<4xi64> => %y : memref<4x4xf32>
error P28: crossEntropy 'loss': expected an operand 'target'

// -----

// P28: a product of matrices that do not fit (NN12).
change "x" in input | memref<4x4xf32> => memref<4x2xf32>
change outs(%dw | memref<4x4xf32>, memref<4x4xf32> => memref<4x4xf32>, memref<4x2xf32>
change outs(%y | %w : memref<4x4xf32> => %w : memref<4x2xf32>
error P28: matmul 'fc': NN12: inner dimensions differ: 2 and 4

// -----

// P28: labels that are no numbers of classes.
change "t" in target | memref<4xi64> => memref<4xf32>
change crossEntropy "loss" | memref<4xi64> => memref<4xf32>
error P28: crossEntropy 'loss': expected elements of i64 in 'target', got 'f32'

// -----

// P28: as many labels as predictions (NN30).
change "t" in target | memref<4xi64> => memref<4x2xi64>
change crossEntropy "loss" | memref<4xi64> => memref<4x2xi64>
error P28: crossEntropy 'loss': NN30: expected integer targets of shape 4

// -----

// P28: an axis that is none (NN15).
drop outs(%y
after plan.phase forward | plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {axis = 7 : i64}
error P28: softmax 'fc': NN15: expected an axis within the operand's rank, got 7

// -----

// P28: an attribute that is missing.
drop outs(%y
after plan.phase forward | plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
error P28: softmax 'fc': requires attribute 'axis'

// -----

// P28: an attribute that the kernel does not have.
change outs(%y | transpose_b => transposed_b
error P28: matmul 'fc': has no attribute 'transposed_b'

// -----

// P28: an attribute of another kind.
drop outs(%y
after plan.phase forward | plan.call softmax "fc" ["x", "y"] ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) {axis = "one"}
error P28: softmax 'fc': requires attribute 'axis'

// -----

// P28: a window beyond 32 bits.
change outs(%y | transpose_b => strides = array<i64: 2147483648>
error P28: matmul 'fc': expected 'strides' from 0 to 2147483647, got 2147483648

// -----

// P28: a loop whose operand does not broadcast to its result.
change "l" in arena | live [1, 2] => live [1, 4]
before plan.issue 0 | plan.pointwise "add" ins(%l, %x : memref<f32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {
before plan.issue 0 | ^bb0(%a: f32, %b: f64):
before plan.issue 0 | plan.yield %a : f32
before plan.issue 0 | }
error plan.pointwise "add" | P28: loop 'add': operand 'memref<4x4xf32>' does not fit the body's 'f64' and a result of 4x4

// -----

// P28: a loop that yields another type.
before plan.issue 0 | plan.pointwise "add" ins(%x : memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {
before plan.issue 0 | ^bb0(%a: f32):
before plan.issue 0 | %b = arith.extf %a : f32 to f64
before plan.issue 0 | plan.yield %b : f64
before plan.issue 0 | }
error plan.pointwise "add" | P28: loop 'add': result 'memref<4x4xf32>' does not fit the body's 'f64' and a result of 4x4

// -----

// P28: a loss of several elements.
change plan.loss %l : memref<f32> => plan.loss %y : memref<4x4xf32>
error P28: expected one element of f32, got 'memref<4x4xf32>'
