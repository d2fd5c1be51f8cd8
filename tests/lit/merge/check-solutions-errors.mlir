// RUN: syncline-opt %s --split-input-file --verify-diagnostics --check-solutions

// Wrong solutions and wrong certificates, each rejected for its own numbered reason.

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M2: }}
sync.solution of @p by "me" ends [1] start [0.1] end [1.1] finish 1.1 bound 0.0

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M9: }}
sync.solution of @p by "me" ends [2] start [0.5] end [1.5] finish 1.5 bound 0.0

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M10: }}
sync.solution of @p by "me" ends [1, 2] start [0.1, 1.0] end [1.1, 2.0] finish 2.0 bound 0.0

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M11: }}
sync.solution of @p by "me" ends [2] start [1.0] end [1.5] finish 1.5 bound 0.0

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M12: }}
sync.solution of @p by "me" ends [2] start [1.0] end [2.0] finish 1.9 bound 0.0

// -----

// The certificate claims more than is true: a plan ends at 2.0, so no entry may be later.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M23: }}
sync.solution of @p by "me" ends [1, 2] start [0.1, 1.1] end [1.1, 2.1] finish 2.1 bound 2.1 certificate [0.0, 1.1, 2.1]

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{M20: }}
sync.solution of @p by "me" ends [2] start [1.0] end [2.0] finish 2.0 bound 2.0 certificate [0.0, 2.0]

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{claims the bound 1.500000e+00, the certificate proves 2.000000e+00}}
sync.solution of @p by "me" ends [2] start [1.0] end [2.0] finish 2.0 bound 1.5 certificate [0.0, 1.1, 2.0]

// -----

sync.problem @p layers ["b", "a"] bytes [0, 0] ready [0.1, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
// expected-error@+1 {{claims the bound 2.000000e+00 without a certificate}}
sync.solution of @p by "me" ends [2] start [1.0] end [2.0] finish 2.0 bound 2.0

// -----

// expected-error@+1 {{expected a 'sync.problem' named 'none'}}
sync.solution of @none by "me" ends [2] start [1.0] end [2.0] finish 2.0 bound 2.0
