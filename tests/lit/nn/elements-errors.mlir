// What the verifiers of elementwise and moving operations refuse.
// RUN: syncline-opt -split-input-file -verify-diagnostics %patched

// Base: One of each.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %sum = nn.binary add %x, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %dx, %ds = nn.prelu_backward %x, %s, %x : tensor<2x3xf32>, tensor<3xf32>
  %wide = nn.broadcast %s : (tensor<3xf32>) -> tensor<2x3xf32>
  %copy = nn.pointwise %x : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%p: f32):
    nn.yield %p : f32
  }
  %flat = nn.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %turned = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %both = nn.concat %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %part = nn.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %back = nn.slice_backward %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %padded = nn.pad %x {begins = array<i64: 0, 1>, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  %total = nn.reduce sum %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
}

// -----

// Shapes that do not broadcast.
before %sum = | %z = nn.state "z" at 64 : tensor<2xf32>
change %sum = | %x, %s : (tensor<2x3xf32>, tensor<3xf32>) => %x, %z : (tensor<2x3xf32>, tensor<2xf32>)
error NN20: shapes 2x3 and 2 do not broadcast

// -----

// Slopes that do not broadcast.
before %dx, %ds = | %z = nn.state "z" at 64 : tensor<2xf32>
change %dx, %ds = | %x, %s, %x : tensor<2x3xf32>, tensor<3xf32> => %x, %z, %x : tensor<2x3xf32>, tensor<2xf32>
error NN20: shapes 2x3 and 2 do not broadcast

// -----

// A result smaller than what is broadcast.
change %wide = | %s : (tensor<3xf32>) -> tensor<2x3xf32> => %x : (tensor<2x3xf32>) -> tensor<1x3xf32>
error NN20: expected result of shape 2x3, got 1x3

// -----

// A body with more arguments than operands.
change ^bb0(%p: f32) => ^bb0(%p: f32, %q: f32)
error %copy = | NN22: expected one body argument an operand and one yielded value a result

// -----

// A body of another type than the operand.
change ^bb0(%p: f32) => ^bb0(%p: f64)
before nn.yield | %0 = arith.truncf %p : f64 to f32
change nn.yield %p => nn.yield %0
error %copy = | NN22: expected body arguments of the operands' element types

// -----

// Results of two shapes.
change %copy = nn.pointwise %x : (tensor<2x3xf32>) -> tensor<2x3xf32> => %copy, %z = nn.pointwise %x : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>)
change nn.yield %p : f32 => nn.yield %p, %p : f32, f32
error %copy, %z = | NN22: expected results of one shape with the yielded element types

// -----

// A reshape that loses an element.
change %flat = | tensor<6xf32> => tensor<5xf32>
error NN40: expected as many elements in

// -----

// A dimension in two places.
change permutation = array<i64: 1, 0> => permutation = array<i64: 0, 0>
error NN41: expected a permutation of the dimensions, got 0x0

// -----

// Dimensions that stay where they are.
change %turned = | tensor<3x2xf32> => tensor<2x3xf32>
error NN41: dimension 0 of the result should be 3

// -----

// A row that comes from nowhere.
change %both = | tensor<4x3xf32> => tensor<5x3xf32>
error NN42: expected 4 along axis 0, got 5

// -----

// Another number of rows beside each other.
change %both = | %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) => %x {axis = 1 : i64} : (tensor<2x3xf32>)
error NN42: operand 'tensor<2x3xf32>' differs from the result off axis 1

// -----

// A slice beyond the end.
change %part = | tensor<2x2xf32> => tensor<2x3xf32>
error NN43: dimension 1 runs from 1 to 3, outside [0, 3)

// -----

// A dimension without a start.
change %back = | starts = array<i64: 0, 0> => starts = array<i64: 0>
error NN43: expected one start and one step a dimension

// -----

// A dimension without a beginning.
change begins = array<i64: 0, 1> => begins = array<i64: 0>
error NN44: expected operand, result and begins of one rank

// -----

// A sum along no axis.
change axes = array<i64: 0> => axes = array<i64: 2>
error NN45: expected axes within the operand's rank, got 2

// -----

// A sum of another shape.
change %total = | tensor<3xf32> => tensor<2xf32>
error NN45: expected a result of shape 1x3 or 3, got 2
