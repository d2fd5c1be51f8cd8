// RUN: syncline-opt %s --split-input-file --solve-merge --check-solutions | FileCheck %s

// Messages that take nothing from computation hide best one by one.

// CHECK: sync.solution of @free {{.*}} finish 3.2
sync.problem @free layers ["b", "a"] bytes [10, 10] ready <[1.0, 2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.1, b = 0.1>, traffic = 1.0>]>] forward_end 0.05 backward_end 2.0 updates 0.0

// -----

// A message of 1.1 s that stops computation makes the second gradient 1.1 s later. One message for both is better.

// CHECK: sync.problem @slowed {{.*}}traffic = 1.0, lost = #cluster.affine<a = 0.1, b = 0.1>>
// CHECK: sync.solution of @slowed by "optimal" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 20, ready = 2.0, start = 2.0, end = 4.1>] finish 4.1
// CHECK-SAME: bound 4.1
// CHECK-SAME: certificate #sync.relaxations<
sync.problem @slowed layers ["b", "a"] bytes [10, 10] ready <[1.0, 2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.1, b = 0.1>, traffic = 1.0, lost = #cluster.affine<a = 0.1, b = 0.1>>]>] forward_end 0.05 backward_end 2.0 updates 0.0

// -----

// Half of the first message's 1.1 s is lost: the second gradient is ready at 2.55 s. Factors take 0.2 s of computation.

// CHECK: sync.problem @half {{.*}}traffic = 1000.0, lost = 0.2>
// CHECK: sync.solution of @half by "optimal" messages [#sync.message<layers = [0], {{.*}}, ready = 1.0, start = 1.0, end = 2.1>, #sync.message<layers = [1], {{.*}}, ready = 2.55, start = 2.55, end = 2.75>] finish 2.75
sync.problem @half layers ["b", "a"] bytes [10, 10] ready <[1.0, 2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.1, b = 0.1>, traffic = 1.0, lost = #cluster.affine<a = 0.05, b = 0.05>>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.2, reconstruct = 0.0, traffic = 1000.0, lost = 0.2>] forward_end 0.05 backward_end 2.0 updates 0.0

// -----

// Messages take nothing from products and half of their time from what runs from 1 to 2 s, which is half done when the message ends. The bound counts what every class loses.

// CHECK: sync.problem @classes {{.*}}traffic = 1.0, memory = #cluster.affine<a = 0.5, b = 0.0>>]>] forward_end 5.000000e-02 backward_end 4.000000e+00 updates 0.000000e+00 memory_bound <[1.0, 2.0]>
// CHECK: sync.solution of @classes by "optimal" messages [#sync.message<layers = [0], {{.*}}, ready = 1.0, start = 1.0, end = 2.0>] finish 4.5
// CHECK-SAME: bound 4.0
sync.problem @classes layers ["a"] bytes [10] ready <[1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0, memory = #cluster.affine<a = 0.5, b = 0.0>>]>] forward_end 0.05 backward_end 4.0 updates 0.0 memory_bound <[1.0, 2.0]>
