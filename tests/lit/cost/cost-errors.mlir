// What the pass `cost` refuses.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(nn.step(cost))'

// expected-error @+1 {{expected a module with the attribute 'cluster.spec' around the step}}
nn.step @noSpec batch 1 {
}

// -----

module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 1, device = <launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @noRates batch 1 {
    %x = nn.input "x" : tensor<4x2xf32>
    // expected-error @+1 {{expected a profile with the layer 'relu1' or a device with compute and memory rates, got neither}}
    %a = nn.unary relu %x {nn.layer = "relu1"} : tensor<4x2xf32>
  }
}

// -----

module attributes {cluster.profile = {other = #cluster.times<forward = 1.0>},
  cluster.spec = #cluster.spec<name = "a", ranks = 1, device = <compute = 1.0, memory = 1.0, launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  // expected-error @+1 {{expected a profile of this step's layers, got one that names none of them (it starts with 'other')}}
  nn.step @foreign batch 1 {
    %x = nn.input "x" : tensor<4x2xf32>
    %a = nn.unary relu %x {nn.layer = "relu1"} : tensor<4x2xf32>
  }
}

// -----

module attributes {nn.precision = "bf16", cluster.spec = #cluster.spec<name = "a", ranks = 1,
    device = <launchOverhead = 0.0, kernels = <like = "best", numbers = {bandwidth = 1.0 : f64, fp32 = 1.0 : f64}>>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  // expected-error @+1 {{expected a device with a bandwidth and a peak in bf16 among the numbers of its kernels, got none}}
  nn.step @noPeak batch 1 {
  }
}
