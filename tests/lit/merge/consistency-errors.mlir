// Local updates that break rule S19 or S20.
// RUN: syncline-opt --split-input-file --verify-diagnostics %s

// S19
// expected-error @+1 {{S19: expected a period of at least 1 step, got 0}}
module attributes {some.consistency = #sync.consistency<local, period = 0>} {}

// -----

// S19
// expected-error @+1 {{S19: expected fragments that divide the period of 9 steps, got 2}}
module attributes {some.consistency = #sync.consistency<diloco, period = 9, fragments = 2>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a delay from 0 to below the 4 steps of a window, got 4}}
module attributes {some.consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 4>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a mix from 0 to 1, got 1.5}}
module attributes {some.consistency = #sync.consistency<diloco, period = 8, mix = 1.5>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a rate above 0, got 0}}
module attributes {some.consistency = #sync.consistency<diloco, period = 8, rate = 0.0>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a momentum from 0 to below 1, got 1}}
module attributes {some.consistency = #sync.consistency<diloco, period = 8, momentum = 1.0>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a period alone for 'local'}}
module attributes {some.consistency = #sync.consistency<local, period = 8, fragments = 2>} {}

// -----

// S20: a gradient that stays on its rank travels by no requested scheme.
// expected-error @+1 {{S20: expected neither tails nor factor options nor requested schemes}}
sync.problem @p layers ["a"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  requested ["a=ring"] forward_end 0.0 backward_end 0.1 updates 0.0 consistency <local, period = 4>
