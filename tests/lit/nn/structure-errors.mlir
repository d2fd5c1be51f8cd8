// What the verifiers of structure, losses and attributes refuse.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{NN1: expected a batch of at least 1, got 0}}
nn.step @s batch 0 {
}

// -----

nn.step @s batch 1 {
  %l = nn.input "l" : tensor<f32>
  // expected-note @+1 {{the first is here}}
  nn.loss %l : tensor<f32>
  // expected-error @+1 {{NN2: a step has one loss}}
  nn.loss %l : tensor<f32>
}

// -----

nn.step @s batch 1 {
  // expected-error @+1 {{NN3: expected a name}}
  %x = nn.input "" : tensor<2xf32>
}

// -----

nn.step @s batch 1 {
  // expected-note @+1 {{by this operation}}
  %x = nn.input "x" : tensor<2xf32>
  // expected-error @+1 {{NN3: name 'x' is taken}}
  %t = nn.target "x" : tensor<2xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN4: expected the result of 'nn.parameter' as first operand}}
  nn.update %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %w = nn.parameter "w" at 0 : tensor<3xf32>
  // expected-error @+1 {{NN4: expected a gradient of the parameter's type}}
  nn.update %w, %x : tensor<3xf32>, tensor<2x3xf32>
}

// -----

nn.step @s batch 1 {
  %w = nn.parameter "w" at 0 : tensor<3xf32>
  nn.update %w, %w : tensor<3xf32>, tensor<3xf32>
  // expected-error @+1 {{NN4: the parameter is updated twice}}
  nn.update %w, %w : tensor<3xf32>, tensor<3xf32>
}

// -----

nn.step @s batch 1 {
  // expected-error @+1 {{NN5: expected either 'at' with an offset or 'init'}}
  %w = nn.parameter "w" : tensor<3xf32>
}

// -----

nn.step @s batch 1 {
  // expected-error @+1 {{NN5: expected either 'at' with an offset or 'init'}}
  %w = nn.state "w" at 0 init <constant, 0.0 : f64, 0.0 : f64> : tensor<3xf32>
}

// -----

nn.step @s batch 1 {
  // expected-error @+1 {{NN5: expected a constant to have its values 'at' an offset}}
  %w = nn.state "w" init <constant, 0.0 : f64, 0.0 : f64> {fixed} : tensor<3xf32>
}

// -----

nn.step @s batch 1 {
  // expected-error @+1 {{NN50: expected 'nn.layer' (string), 'nn.backward' (unit) or 'nn.seconds'}}
  %w = nn.parameter "w" at 0 {nn.fixed} : tensor<3xf32>
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN30: expected integer targets of shape 2}}
  %l, %d = nn.cross_entropy %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<f32>, tensor<2x3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2xi64>
  // expected-error @+1 {{NN30: expected a smoothing from 0 to below 1, got 1.0}}
  %l, %d = nn.cross_entropy %x, %t {smoothing = 1.0 : f64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<f32>, tensor<2x3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x5x3xf32>
  %t = nn.target "t" : tensor<2x5xi64>
  %w = nn.constant dense<1.0> : tensor<5xf32>
  // expected-error @+1 {{NN30: expected weights of type 'tensor<3xf32>', got 'tensor<5xf32>'}}
  %l, %d = nn.cross_entropy %x, %t weights %w : (tensor<2x5x3xf32>, tensor<2x5xi64>, tensor<5xf32>) -> (tensor<f32>, tensor<2x5x3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  %t = nn.target "t" : tensor<2xf32>
  // expected-error @+1 {{NN31: expected value, target and gradient of one type}}
  %l, %d = nn.mean_squared_error %x, %t : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<f32>, tensor<2x3xf32>)
}

// -----

nn.step @s batch 1 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error @+1 {{NN50: expected 'nn.layer' (string), 'nn.backward' (unit) or 'nn.seconds'}}
  %y = nn.unary relu %x {nn.seconds = -1.0 : f64} : tensor<2x3xf32>
}

// -----

// expected-error @+1 {{NN54: expected 'nn.recomputation' with 'blocks' (strings), 'freed' (i64) and perhaps 'asked' (i64, above 0), got {blocks = [], freed = 1 : i32}}}
module attributes {nn.recomputation = {blocks = [], freed = 1 : i32}} {
}

// -----

// expected-error @+1 {{NN54: expected 'nn.recomputation' with 'blocks' (strings), 'freed' (i64) and perhaps 'asked' (i64, above 0), got {asked = 0 : i64, blocks = [], freed = 1 : i64}}}
module attributes {nn.recomputation = {asked = 0 : i64, blocks = [], freed = 1 : i64}} {
}

// -----

// expected-error @+1 {{NN54: expected 'nn.recomputed' as a unit, got true}}
module attributes {nn.recomputed = true} {
}

// -----

// expected-error @+1 {{NN51: expected 'nn.optimizer' on a module, as sgd, adam, adamw or lamb, got "lion"}}
module attributes {nn.optimizer = "lion"} {}

// -----

// expected-error @+1 {{NN51: expected 'nn.optimizer' on a module, as sgd, adam, adamw or lamb, got "adam"}}
nn.step @s batch 1 attributes {nn.optimizer = "adam"} {
}

// -----

// expected-error @+1 {{NN53: expected 'nn.precision' on a module, as fp32, tf32, bf16 or fp16, got "fp8"}}
module attributes {nn.precision = "fp8"} {}

// -----

nn.step @s batch 4 {
  // expected-error @+1 {{'nn.input' op has no attribute 'layer'}}
  %x = nn.input "x" {layer = "conv1"} : tensor<4x8xf32>
}
