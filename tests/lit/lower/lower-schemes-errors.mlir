// Steps whose messages make no sense are refused with a reason.
// RUN: syncline-opt --lower-to-plan --split-input-file --verify-diagnostics %s

// Factors are gathered, not summed.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @summed batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    // expected-error @+1 {{gradients that travel by factors are not reduced: expected 'sync.all_gather' of their factors}}
    %a = sync.all_reduce %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme factors>} : (tensor<2xf32>) -> tensor<2xf32>
    nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// What is gathered is nobody's gradient yet.
module attributes {cluster.spec = #cluster.spec<name = "one", ranks = 1, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @raw batch 1 {
    %x = nn.input "x" : tensor<2xf32>
    %w = nn.parameter "w" at 0 : tensor<2xf32>
    %a = sync.all_gather %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    // expected-error @+1 {{expected a gradient that comes from 'sync.all_reduce', or is computed from 'sync.all_gather'}}
    nn.update %w, %a : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// A message names everybody whose gradient is computed from it.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @unnamed batch 2 {
    %x = nn.input "x" : tensor<2x2xf32>
    %w = nn.parameter "w" at 0 : tensor<2x2xf32>
    %b = nn.parameter "b" at 0 : tensor<2xf32>
    %xs = sync.all_gather %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %dw = nn.matmul %xs, %xs {transpose_a} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %db = nn.reduce sum %xs {axes = array<i64: 0>} : (tensor<4x2xf32>) -> tensor<2xf32>
    nn.update %w, %dw : tensor<2x2xf32>, tensor<2x2xf32>
    // expected-error @+1 {{its gradient comes from a message that does not name it}}
    nn.update %b, %db : tensor<2xf32>, tensor<2xf32>
  }
}

// -----

// Gradients are computed when their message has arrived: theirs, not several.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @mixed batch 2 {
    %x = nn.input "x" : tensor<2x2xf32>
    %w = nn.parameter "w" at 0 : tensor<2x2xf32>
    %xs = sync.all_gather %x {members = ["w"], bucket = 0 : i64, channel = 0 : i64} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %ys = sync.all_gather %x {members = ["w"], bucket = 1 : i64, channel = 0 : i64} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    // expected-error @+1 {{depends on what two messages gather}}
    %dw = nn.matmul %xs, %ys {transpose_a} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    nn.update %w, %dw : tensor<2x2xf32>, tensor<2x2xf32>
  }
}

// -----

// A sum over ranks of what all ranks have would count it as often as there are ranks.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @twice batch 2 {
    %x = nn.input "x" : tensor<2x2xf32>
    %w = nn.parameter "w" at 0 : tensor<4x2xf32>
    %xs = sync.all_gather %x {members = ["v"], bucket = 0 : i64, channel = 0 : i64} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    // expected-error @+1 {{expected values of this rank, got one of all ranks}}
    %a = sync.all_reduce %xs {members = ["w"], bucket = 1 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
    nn.update %w, %a : tensor<4x2xf32>, tensor<4x2xf32>
  }
}

// -----

// A message that writes a parameter cannot wait for a reader that itself waits for a message.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @late batch 2 {
    %x = nn.input "x" : tensor<2x2xf32>
    %v = nn.parameter "v" at 0 : tensor<2x2xf32>
    %w = nn.parameter "w" at 64 : tensor<4x2xf32>
    %xs = sync.all_gather %x {members = ["w"], bucket = 1 : i64, channel = 0 : i64} : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %dw = nn.matmul %xs, %v : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
    // expected-error @+1 {{never leaves: what it waits for is computed from what another message gathers}}
    %a = sync.all_reduce %x {members = ["v"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme "reduce-scatter">} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    nn.update %v, %a : tensor<2x2xf32>, tensor<2x2xf32>
    nn.update %w, %dw : tensor<4x2xf32>, tensor<4x2xf32>
  }
}
