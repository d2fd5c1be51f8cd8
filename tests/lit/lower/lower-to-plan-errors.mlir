// Steps that cannot be lowered are refused with a reason.
// RUN: syncline-opt --lower-to-plan --split-input-file --verify-diagnostics %patched

// Base: One parameter, whose gradient is summed.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @s batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    %a = sync.all_reduce %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2xf32>) -> tensor<2xf32>
    nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// Nobody says for how many ranks.
// expected-error @+1 {{expected attribute 'cluster.spec' on the module}}
module {
  nn.step @s batch 1 {
  }
}

// -----

// An operation that is not fused.
after %x = | %y = nn.unary relu %x : tensor<2xf32>
after %y = | nn.output %y "y" : tensor<2xf32>
error %y = | no kernel carries out 'nn.unary'

// -----

// A parameter without an update.
drop %a =
drop nn.update
error %w = | parameter 'w' is never updated

// -----

// A gradient of one rank.
drop %a =
change nn.update %w, %a => nn.update %w, %x
error expected a gradient that comes from 'sync.all_reduce'

// -----

// A message that names another parameter.
change members = ["w"] => members = ["v"]
error member "v" does not update the parameter of that name

// -----

// Buckets that count from 3.
change bucket = 0 => bucket = 3
error expected bucket 0 here: buckets are numbered from 0, got 3

// -----

// A model that computes nothing.
after %x = | nn.output %x "y" : tensor<2xf32>
error the model's output 'y' is computed by no operation

// -----

// Elements that plans do not know.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @odd batch 1 {
    // expected-error @+1 {{tensor 'x' has elements of type 'i16', which plans do not know}}
    %x = nn.input "x" : tensor<1x2xi16>
  }
}
