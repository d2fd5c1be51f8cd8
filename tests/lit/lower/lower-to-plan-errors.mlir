// Steps that cannot be lowered are refused with a reason.
// RUN: syncline-opt --lower-to-plan --split-input-file --verify-diagnostics %s

// expected-error @+1 {{expected attribute 'cluster.spec' on the module}}
module {
  nn.step @s batch 1 {
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @unfused batch 1 {
    %x = nn.input "x" : tensor<1x2xf32>
    // expected-error @+1 {{no kernel carries out 'nn.unary'}}
    %y = nn.unary relu %x : tensor<1x2xf32>
    nn.output %y "y" : tensor<1x2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @never batch 1 {
    // expected-error @+1 {{parameter 'w' is never updated}}
    %w = nn.parameter "w" at 0 : tensor<2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @alone batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    // expected-error @+1 {{expected a gradient that comes from 'sync.all_reduce'}}
    nn.update %w, %x : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @misnamed batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    // expected-error @+1 {{member "v" does not update the parameter of that name}}
    %a = sync.all_reduce %x {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>, ready = 0.0 : f64, start = 0.0 : f64, end = 0.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
    nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @misnumbered batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    // expected-error @+1 {{expected bucket 0 here: buckets are numbered from 0, got 3}}
    %a = sync.all_reduce %x {members = ["w"], bucket = 3 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>, ready = 0.0 : f64, start = 0.0 : f64, end = 0.0 : f64} : (tensor<2xf32>) -> tensor<2xf32>
    nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @echo batch 1 {
    %x = nn.input "x" : tensor<1x2xf32>
    // expected-error @+1 {{the model's output 'y' is computed by no operation}}
    nn.output %x "y" : tensor<1x2xf32>
  }
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @odd batch 1 {
    // expected-error @+1 {{tensor 'x' has elements of type 'i16', which plans do not know}}
    %x = nn.input "x" : tensor<1x2xi16>
  }
}
