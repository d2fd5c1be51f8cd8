// RUN: syncline-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(nn.step(insert-gradients),form-buckets)'

// A solution that names a gradient the step does not have.
sync.problem @merge layers ["other"] bytes [8] ready [0.5] forward_end 0.2 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{layer 'other' has no 'sync.gradient' in the step}}
sync.solution of @merge by "single" ends [1] start [1.0] end [2.0] finish 2.0 bound 2.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// A gradient that no bucket holds would never be synchronised.
sync.problem @merge layers [] bytes [] ready [] forward_end 0.2 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
sync.solution of @merge by "single" ends [] start [] end [] finish 0.0 bound 0.0
nn.step @one batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  // expected-error@+1 {{no bucket of the solution holds this gradient}}
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
}
