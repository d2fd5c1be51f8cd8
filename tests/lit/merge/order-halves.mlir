// Orders of halves: reduce-scatters in ready order, then all-gathers in the order in which the next forward pass reads; by 'optimal' too.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step requested=*=reduce-scatter},solve-merge{planner=dear:1B},check-solutions)' | FileCheck %s -DBY=dear:1B -DSCHEME='"reduce-scatter"'
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step requested=*=ring},solve-merge{planner=dear:1B},check-solutions)' | FileCheck %s -DBY=dear:1B -DSCHEME=ring
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step requested=*=ring},solve-merge,check-solutions)' | FileCheck %s --check-prefix=OPTIMAL

// All three sums have travelled by 6.75 s. "conv" is read first, so it is gathered first; those of "fc2" arrive at 10.625 s, and 1 s follows.
// CHECK: by "[[BY]]" messages [#sync.message<layers = [0], scheme = [[SCHEME]], merge_class = 0, bytes = 256, gather = <place = 5, start = 9.5, end = 10.625>, ready = 2.0, start = 2.0, end = 3.125>,
// CHECK-SAME: #sync.message<layers = [1], scheme = [[SCHEME]], merge_class = 0, bytes = 512, gather = <place = 4, start = 7.375, end = 9.5>, ready = 4.0, start = 4.0, end = 6.125>,
// CHECK-SAME: #sync.message<layers = [2], scheme = [[SCHEME]], merge_class = 0, bytes = 128, gather = <place = 3, start = 6.75, end = 7.375>, ready = 6.0, start = 6.125, end = 6.75>]
// CHECK-SAME: finish 1.162500e+01 bound 1.150000e+01

// The planner needs one message less for this period: "conv" need not travel in halves.
// OPTIMAL: by "optimal" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 256, gather = <place = 4, start = 9.5, end = 10.625>, ready = 2.0, start = 2.0, end = 3.125>,
// OPTIMAL-SAME: #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 512, gather = <place = 3, start = 7.375, end = 9.5>, ready = 4.0, start = 4.0, end = 6.125>,
// OPTIMAL-SAME: #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 128, ready = 6.0, start = 6.125, end = 7.375>]
// OPTIMAL-SAME: finish 1.162500e+01 bound 1.150000e+01
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.25, b = 0.0078125>>, <"reduce-scatter", #cluster.affine<a = 0.25, b = 0.0078125>>]>} {
sync.trace @net {
  sync.layer "conv" bytes 128 forward 1.0 backward 2.0
  sync.layer "fc1" bytes 512 forward 1.0 backward 2.0
  sync.layer "fc2" bytes 256 forward 1.0 backward 2.0
}
}
