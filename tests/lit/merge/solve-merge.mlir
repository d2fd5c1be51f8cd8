// RUN: syncline-opt %s --solve-merge --check-solutions | FileCheck %s --check-prefix=OPTIMAL
// RUN: syncline-opt %s --solve-merge=planner=wfbp --check-solutions | FileCheck %s --check-prefix=WFBP
// RUN: syncline-opt %s --solve-merge=planner=single --check-solutions | FileCheck %s --check-prefix=SINGLE

// Every planner's answer ships with the certificate that bounds it. The first two layers are worth merging, the third comes too
// late for them to wait.

// OPTIMAL: sync.solution of @p by "optimal" ends [2, 3] start [0.2, 3.2] end [3.2, 4.2] finish 4.2{{.*}} bound 4.2{{.*}} certificate [0.0, 2.1, 3.2, 4.2]
// WFBP: sync.solution of @p by "wfbp" ends [1, 2, 3] start [0.1, 2.1, 4.1] end [2.1, 4.1, 5.1] finish 5.1{{.*}} bound 4.2
// SINGLE: sync.solution of @p by "single" ends [3] start [3.0] end [6.0] finish 6.0{{.*}} bound 4.2
sync.problem @p layers ["c", "b", "a"] bytes [100, 100, 0] ready [0.1, 0.2, 3.0] forward_end 0.05 backward_end 3.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.01>
