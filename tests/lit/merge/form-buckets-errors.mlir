// RUN: syncline-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(nn.step(insert-gradients),form-buckets)'

// A solution that names a gradient the step does not have.
sync.problem @merge layers ["other"] bytes [8] ready <[0.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>] forward_end 0.2 backward_end 1.0 updates 0.0
// expected-error@+1 {{layer 'other' has no 'sync.gradient' in the step}}
sync.solution of @merge by "single" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 8, ready = 0.5, start = 1.0, end = 2.0>]
  finish 2.0 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// A gradient that no bucket holds would never be synchronised.
sync.problem @merge layers [] bytes [] ready <[]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>] forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "single" messages [] finish 0.0 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  // expected-error@+1 {{no bucket of the solution holds this gradient}}
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// A message of a layer that the problem does not have.
sync.problem @merge layers ["w"] bytes [16] ready <[0.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>] forward_end 0.2 backward_end 1.0 updates 0.0
// expected-error@+1 {{layer 7 is none of the problem's 1}}
sync.solution of @merge by "single" messages [#sync.message<layers = [7], scheme = ring, merge_class = 0, bytes = 16, ready = 0.5, start = 1.0, end = 2.0>]
  finish 2.0 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// Only a product over samples has factors.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
sync.problem @merge layers ["w"] bytes [16] ready <[0.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 3.0>] forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "sfb" messages [#sync.message<layers = [0], scheme = factors, bytes = 16, ready = 0.5, start = 1.0, end = 1.5>]
  finish 1.5 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  // expected-error@+1 {{expected a product over samples: it travels by 'factors'}}
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Only a sum of a factor rides.
module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
sync.problem @merge layers ["w", "b"] bytes [64, 16] ready <[0.5, 0.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 3.0>] piggybacks [1, 0] forward_end 0.2 backward_end 1.0 updates 0.0
sync.solution of @merge by "sfb" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 0.5, start = 1.0, end = 1.5>] piggybacks [1]
  finish 1.5 bound 0.0
nn.step @one batch 1 {
  %x = nn.input "x" : tensor<3x4xf32>
  %w = nn.parameter "w" at 0 : tensor<4x4xf32>
  %b = nn.parameter "b" at 64 : tensor<4xf32>
  %dw = nn.matmul %x, %x {transpose_a} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  nn.update %w, %dw : tensor<4x4xf32>, tensor<4x4xf32>
  // expected-error@+1 {{expected a sum of a factor of 'w', with which it travels}}
  nn.update %b, %b : tensor<4xf32>, tensor<4xf32>
}
}

// -----

// Who does not know how many ranks there are cannot gather.
sync.problem @merge layers ["w"] bytes [16] ready <[0.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 3.0>] forward_end 0.2 backward_end 1.0 updates 0.0
// expected-error@+1 {{travels by factors, but the module has no 'cluster.spec' that says how many ranks gather them}}
sync.solution of @merge by "sfb" messages [#sync.message<layers = [0], scheme = factors, bytes = 16, ready = 0.5, start = 1.0, end = 1.5>]
  finish 1.5 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}
