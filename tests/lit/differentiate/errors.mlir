// What differentiation refuses.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics -differentiate

// expected-error @+1 {{expected an 'nn.loss' to differentiate}}
nn.step @noLoss batch 1 {
}

// -----

nn.step @twice batch 1 {
  %l = nn.parameter "l" at 0 : tensor<f32>
  nn.loss %l : tensor<f32>
  // expected-error @+1 {{expected a step without updates: it was differentiated before}}
  nn.update %l, %l : tensor<f32>, tensor<f32>
}

// -----

nn.step @unreached batch 1 {
  %l = nn.parameter "l" at 0 : tensor<f32>
  // expected-error @+1 {{parameter 'unused.weight' has no gradient: the loss depends on it through comparisons or rounding alone or not at all; '--freeze unused.weight' leaves it as it is}}
  %u = nn.parameter "unused.weight" at 0 : tensor<3xf32>
  nn.loss %l : tensor<f32>
}

// -----

nn.step @compared batch 1 {
  %t = nn.target "t" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  // expected-error @+1 {{parameter 'c' has no gradient}}
  %c = nn.parameter "c" at 64 : tensor<2xf32>
  %y = nn.binary mask %w, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

nn.step @noRule batch 1 {
  %t = nn.target "t" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  // expected-error @+1 {{no derivative for this operation, between a parameter and the loss}}
  %y = nn.unary_backward relu %w, %w : tensor<2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

nn.step @fused batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<3x3xf32>
  // expected-error @+1 {{no derivative for a fused activation; fuse after differentiating}}
  %y = nn.matmul %x, %w {activation = #nn<activation relu>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

nn.step @negativeAlpha batch 1 {
  %t = nn.target "t" : tensor<2xf32>
  %w = nn.parameter "w" at 0 : tensor<2xf32>
  // expected-error @+1 {{NN21: no derivative for a negative alpha, got -5.000000e-01}}
  %y = nn.unary leaky_relu %w {alpha = -0.5 : f64} : tensor<2xf32>
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  nn.loss %l : tensor<f32>
}

// -----

nn.step @statistics batch 2 {
  %x = nn.parameter "x" at 0 : tensor<2x3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %t = nn.target "t" : tensor<3xf32>
  // expected-error @+1 {{no derivative for the batch's mean and variance as results}}
  %y, %m, %v = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %l, %d = nn.mean_squared_error %m, %t : (tensor<3xf32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>)
  nn.loss %l : tensor<f32>
}

// -----

nn.step @target batch 2 {
  %y = nn.input "y" : tensor<2x3xf32>
  %t = nn.parameter "t" at 0 : tensor<2x3xf32>
  // expected-error @+1 {{no derivative with respect to the target}}
  %l, %d = nn.mean_squared_error %y, %t : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
  nn.loss %l : tensor<f32>
}
