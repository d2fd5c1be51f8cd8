// What the verifiers of linear, window and normalising operations refuse.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %w = nn.parameter "w" at 0 : tensor<5x3x1x1xf32>
  %b = nn.parameter "b" at 0 : tensor<3xf32>
  // expected-error @+1 {{NN10: expected a bias of one element per output channel}}
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<3xf32>) -> tensor<2x5x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %w = nn.parameter "w" at 0 : tensor<5x3x2x2xf32>
  // expected-error @+1 {{NN10: expected result of shape 2x5x3x3, got 2x5x4x4}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<5x3x2x2xf32>) -> tensor<2x5x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %w = nn.parameter "w" at 0 : tensor<5x2x1x1xf32>
  // expected-error @+1 {{NN10: channels of x 2x3x4x4 and w 5x2x1x1 do not match for 1 groups}}
  %y = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<5x2x1x1xf32>) -> tensor<2x5x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %w = nn.parameter "w" at 0 : tensor<3x3x2x2xf32>
  // expected-error @+1 {{NN11: expected dy of shape 2x3x3x3, got 2x3x4x4}}
  %y = nn.conv_backward_data %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<3x3x2x2xf32>) -> tensor<2x3x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  // expected-error @+1 {{NN11: expected a bias gradient of one element per output channel}}
  %y, %b = nn.conv_backward_weights %x, %x {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> (tensor<3x3x1x1xf32>, tensor<4xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN12: inner dimensions differ: 3 and 2}}
  %y = nn.matmul %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN12: expected result of shape 2x2, got 3x3}}
  %y = nn.matmul %x, %x {transpose_b} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  // expected-error @+1 {{NN13: expected a workspace of the result's shape}}
  %y, %w = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x3x3xf32>, tensor<2x3x4x4xui8>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %w = nn.input "w" : tensor<2x3x3x3xui8>
  // expected-error @+1 {{NN13: expected a workspace of dy's shape}}
  %y = nn.max_pool_backward %x, %w {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<2x3x3x3xui8>) -> tensor<2x3x5x5xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  // expected-error @+1 {{NN13: expected result of shape 2x3x3x3, got 2x3x4x4}}
  %y = nn.average_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  // expected-error @+1 {{NN13: expected dy of shape 2x3x3x3, got 2x3x4x4}}
  %y = nn.average_pool_backward %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  // expected-error @+1 {{NN14: expected results of 'nn.state' as running statistics}}
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  // expected-error @+1 {{NN14: a workspace comes with a fused activation, and only then}}
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, activation = #nn<activation relu>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %z = nn.state "z" at 0 : tensor<2xf32>
  // expected-error @+1 {{NN14: expected one element for each of the 3 channels}}
  %y, %m, %v = nn.batch_norm %x, %z, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<2xf32>
  // expected-error @+1 {{NN17: expected scale and shift of the last dimensions of 'tensor<2x3xf32>', got 'tensor<2xf32>'}}
  %y = nn.layer_norm %x, %s {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  // expected-error @+1 {{NN17: expected an epsilon that is not negative}}
  %a, %b, %c = nn.layer_norm_backward %x, %s, %x {epsilon = -1.0 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN15: expected an axis within the operand's rank, got 2}}
  %y = nn.softmax %x {axis = 2 : i64} : tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN15: expected an axis within the operand's rank, got -1}}
  %y = nn.softmax_backward %x, %x {axis = -1 : i64} : tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN16: expected a ratio in [0, 1), got 1}}
  %y, %m = nn.dropout %x {ratio = 1.0 : f64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %m = nn.input "m" : tensor<2xui8>
  // expected-error @+1 {{NN16: expected a mask of the operand's shape}}
  %y = nn.dropout_backward %x, %m {ratio = 0.5 : f64} : tensor<2x3xf32>, tensor<2xui8>
}

// -----

nn.step @s batch 2 {
  %i = nn.input "i" : tensor<2x5xf32>
  %t = nn.parameter "t" at 0 : tensor<7x3xf32>
  // expected-error @+1 {{NN46: expected ids of i64, got 'tensor<2x5xf32>'}}
  %y = nn.embedding %i, %t : (tensor<2x5xf32>, tensor<7x3xf32>) -> tensor<2x5x3xf32>
}

// -----

nn.step @s batch 2 {
  %i = nn.input "i" : tensor<2x5xi64>
  %t = nn.parameter "t" at 0 : tensor<7x3xf32>
  // expected-error @+1 {{NN46: expected rows of shape 2x5x3, got 2x5x4}}
  %y = nn.embedding %i, %t : (tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x4xf32>
}

// -----

nn.step @s batch 2 {
  %i = nn.input "i" : tensor<2x5xi64>
  %y = nn.input "y" : tensor<2x5xf32>
  // expected-error @+1 {{NN46: expected a table of rank 2 or more, got 'tensor<7xf32>'}}
  %d = nn.embedding_backward %i, %y : (tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<7xf32>
}

// -----

nn.step @s batch 2 {
  %i = nn.input "i" : tensor<2x5xi64>
  %y = nn.input "y" : tensor<2x5x3xf32>
  %h = nn.input "h" : tensor<8x3xf32>
  // expected-error @+1 {{NN46: expected rows to be added onto 'tensor<7x3xf32>', got 'tensor<8x3xf32>'}}
  %d = nn.embedding_backward %i, %y onto %h : (tensor<2x5xi64>, tensor<2x5x3xf32>, tensor<8x3xf32>) -> tensor<7x3xf32>
}
