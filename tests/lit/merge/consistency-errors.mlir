// Consistencies that break rule S19 or S20.
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
// expected-error @+1 {{S19: expected period alone for 'local'}}
module attributes {some.consistency = #sync.consistency<local, period = 8, fragments = 2>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a staleness of at least 0 steps, got -1}}
module attributes {some.consistency = #sync.consistency<ssp, upper = -1>} {}

// -----

// S19
// expected-error @+1 {{S19: expected upper alone for 'ssp'}}
module attributes {some.consistency = #sync.consistency<ssp, period = 2, upper = 1>} {}

// -----

// S19
// expected-error @+1 {{S19: expected no number for 'asp'}}
module attributes {some.consistency = #sync.consistency<asp, upper = 1>} {}

// -----

// S19
// expected-error @+1 {{S19: expected 0 <= L <= U steps, got 5 and 3}}
module attributes {some.consistency = #sync.consistency<dssp, lower = 5, upper = 3>} {}

// -----

// S19
// expected-error @+1 {{S19: expected 0 <= L <= U steps, got -1 and 3}}
module attributes {some.consistency = #sync.consistency<dssp, lower = -1, upper = 3>} {}

// -----

// S19
// expected-error @+1 {{S19: expected bounds at most 10000 steps apart, got 1 and 10002}}
module attributes {some.consistency = #sync.consistency<dssp, lower = 1, upper = 10002>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a rho above 0, got 0}}
module attributes {some.consistency = #sync.consistency<easgd, variant = async, rho = 0.0>} {}

// -----

// S19
// expected-error @+1 {{S19: expected a period of at least 1 step, got 0}}
module attributes {some.consistency = #sync.consistency<easgd, period = 0, variant = sync3, rho = 0.1>} {}

// -----

// S19
// expected-error @+1 {{S19: expected variant, rho, period alone for 'easgd'}}
module attributes {some.consistency = #sync.consistency<easgd, fragments = 2, period = 2, variant = sync3, rho = 0.1>} {}

// -----

// S19
// expected-error @+1 {{S19: expected at most 1099511627776 steps, got 1099511627777}}
module attributes {some.consistency = #sync.consistency<dssp, lower = 1, upper = 1099511627777>} {}

// -----

// S20: a gradient that stays on its rank travels by no requested scheme.
// expected-error @+1 {{S20: expected neither tails nor factor options nor requested schemes}}
sync.problem @p layers ["a"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  requested ["a=ring"] forward_end 0.0 backward_end 0.1 updates 0.0 consistency <local, period = 4>
