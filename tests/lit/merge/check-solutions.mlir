// RUN: syncline-opt %s --check-solutions | syncline-opt --check-solutions | FileCheck %s

// What is right is accepted, and prints as it reads: solutions and both kinds of certificate.

// Merging alone: the array f.
// CHECK: sync.solution of @plain by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 20, ready = 0.2, start = 0.2, end = 1.2>] finish 1.2{{.*}} bound 1.2{{.*}} certificate #sync.times<[0.0, 1.1, 1.2]>
sync.problem @plain layers ["b", "a"] bytes [10, 10] ready <[0.1, 0.2]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 0.2 updates 0.0
sync.solution of @plain by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 20, ready = 0.2, start = 0.2, end = 1.2>]
  finish 1.2 bound 1.2 certificate #sync.times<[0.0, 1.1, 1.2]>

// A plan may start later than it must, and claim nothing.
// CHECK: start = 0.5
sync.solution of @plain by "late" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 20, ready = 0.2, start = 0.5, end = 1.5>]
  finish 1.5 bound 0.0

// A weight by factors, with its bias; a layer before it that skips it; relaxations for a proof, every digit of them kept.
// CHECK: sync.problem @joint {{.*}} merge_classes [#sync.merge_class<[<ring, {{.*}}>]>, #sync.merge_class<[<"parameter-server", {{.*}}>], largest = 40>] factor_options {{.*}} piggybacks [1, 2] only [3, 1, 1, 2]
// CHECK: sync.solution of @joint by "me" messages [#sync.message<layers = [2], scheme = factors, bytes = 1000, ready = 3.0, start = 3.0, end = 3.0100000000000002, reconstructed = 4.02>, {{.*}}] piggybacks [1]
// CHECK-SAME: certificate #sync.relaxations<{{\[\[}}1.0, 0.0, 1.0, 0.0, 0.30000000000000004, 0.0], [0.5, 0.0, 1.0, 0.0]]>
sync.problem @joint layers ["d", "c", "b", "a"] bytes [10, 20, 1000, 30] ready <[1.0, 2.0, 3.0, 4.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>], largest = 40>]
  factor_options [#sync.factor_option<layer = 2, scheme = factors, seconds = 0.01, reconstruct = 0.02, traffic = 5.0>] piggybacks [1, 2] only [3, 1, 1, 2]
  forward_end 0.5 backward_end 4.0 updates 0.0
sync.solution of @joint by "me" messages [#sync.message<layers = [2], scheme = factors, bytes = 1000, ready = 3.0, start = 3.0, end = 3.0100000000000002, reconstructed = 4.02>,
    #sync.message<layers = [0, 3], scheme = "parameter-server", merge_class = 1, bytes = 40, ready = 4.0, start = 4.0, end = 5.0>] piggybacks [1]
  finish 5.0 bound 5.0 certificate #sync.relaxations<[[1.0, 0.0, 1.0, 0.0, 0.30000000000000004, 0.0], [0.5, 0.0, 1.0, 0.0, 0.0, 0.0]]>
