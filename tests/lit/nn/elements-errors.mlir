// What the verifiers of elementwise and moving operations refuse.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<2xf32>
  // expected-error @+1 {{NN20: shapes 2x3 and 2 do not broadcast}}
  %y = nn.binary add %x, %s : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<2xf32>
  // expected-error @+1 {{NN20: shapes 2x3 and 2 do not broadcast}}
  %y, %z = nn.prelu_backward %x, %s, %x : tensor<2x3xf32>, tensor<2xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN20: expected result of shape 2x3, got 1x3}}
  %y = nn.broadcast %x : (tensor<2x3xf32>) -> tensor<1x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN22: expected one body argument an operand and one yielded value a result}}
  %y = nn.pointwise %x : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%p: f32, %q: f32):
    nn.yield %p : f32
  }
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN22: expected body arguments of the operands' element types}}
  %y = nn.pointwise %x : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%p: f64):
    %0 = arith.truncf %p : f64 to f32
    nn.yield %0 : f32
  }
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN22: expected results of one shape with the yielded element types}}
  %y, %z = nn.pointwise %x : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>) {
  ^bb0(%p: f32):
    nn.yield %p, %p : f32, f32
  }
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN40: expected as many elements in}}
  %y = nn.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN41: expected a permutation of the dimensions, got 0x0}}
  %y = nn.transpose %x {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN41: dimension 0 of the result should be 3}}
  %y = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN42: expected 4 along axis 0, got 5}}
  %y = nn.concat %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN42: operand 'tensor<2x3xf32>' differs from the result off axis 1}}
  %y = nn.concat %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN43: dimension 1 runs from 1 to 3, outside [0, 3)}}
  %y = nn.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN43: expected one start and one step a dimension}}
  %y = nn.slice_backward %x {starts = array<i64: 0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN44: expected operand, result and begins of one rank}}
  %y = nn.pad %x {begins = array<i64: 0>, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN45: expected axes within the operand's rank, got 2}}
  %y = nn.reduce sum %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN45: expected a result of shape 1x3 or 3, got 2}}
  %y = nn.reduce sum %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2xf32>
}
