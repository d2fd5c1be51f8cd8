// What the pass `fuse-pointwise` refuses.
// RUN: syncline-opt %s -verify-diagnostics -fuse-pointwise

nn.step @integers batch 2 {
  %x = nn.input "x" : tensor<2xi32>
  // expected-error @+1 {{expected floating-point elements, got 'i32'}}
  %y = nn.unary neg %x : tensor<2xi32>
  nn.output %y "y" : tensor<2xi32>
}
