// RUN: syncline-opt %s --solve-merge --check-solutions | FileCheck %s --check-prefix=OPTIMAL
// RUN: syncline-opt %s --solve-merge=planner=wfbp --check-solutions | FileCheck %s --check-prefix=WFBP
// RUN: syncline-opt %s --solve-merge=planner=single --check-solutions | FileCheck %s --check-prefix=SINGLE

// Every planner's answer ships with the certificate that bounds it; the first two layers are worth waiting for.

// OPTIMAL: sync.solution of @p by "optimal" ends [2, 3] start [0.2, 1.2] end [1.2, 2.2] finish 2.200000e+00 : f64 bound 2.200000e+00
// OPTIMAL-SAME: certificate [0.0, 1.1, 1.2, 2.2]
// WFBP: sync.solution of @p by "wfbp" ends [1, 2, 3] start [0.1, 1.1, 2.1] end [1.1, 2.1, 3.1] finish 3.1
// WFBP-SAME: bound 2.2
// SINGLE: sync.solution of @p by "single" ends [3] start [1.0] end [2.0] finish 2.0
sync.problem @p layers ["c", "b", "a"] bytes [0, 0, 0] ready [0.1, 0.2, 1.0] forward_end 0.05 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
