// RUN: syncline-opt %s --split-input-file --solve-merge --check-solutions | FileCheck %s
// RUN: syncline-opt %s --split-input-file --solve-merge=planner=wfbp --check-solutions | FileCheck %s --check-prefix=WFBP
// RUN: syncline-opt %s --split-input-file --solve-merge=planner=single --check-solutions | FileCheck %s --check-prefix=SINGLE
// RUN: syncline-opt %s --split-input-file '--solve-merge=planner=wfbp channels=2' --check-solutions | FileCheck %s --check-prefix=TURNS

// Every planner's answer ships with the certificate that bounds it. The first two layers are worth merging, the third comes too
// late for them to wait.

// CHECK: sync.solution of @plain by "optimal" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 200, ready = 0.2, start = 0.2, end = 3.2>, #sync.message<layers = [2], {{.*}}, start = 3.2, end = 4.2>] finish 4.2{{.*}} bound 4.2{{.*}} certificate #sync.times<[0.0, 2.1, 3.2, 4.2]>
// WFBP: sync.solution of @plain by "wfbp" messages [#sync.message<layers = [0], {{.*}}, end = 2.1>, #sync.message<layers = [1], {{.*}}, end = 4.1>, #sync.message<layers = [2], {{.*}}, end = 5.1>] finish 5.1{{.*}} bound 4.2
// TURNS: sync.solution of @plain by "wfbp" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 100, ready = 0.1, start = 0.1, end = 2.1>, #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 100, channel = 1, ready = 0.2, start = 2.1, end = 4.1>, #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 0, ready = 3.0, start = 4.1, end = 5.1>] finish 5.1{{.*}} bound 4.2
// SINGLE: sync.solution of @plain by "single" messages [#sync.message<layers = [0, 1, 2], {{.*}}, start = 3.0, end = 6.0>] finish 6.0{{.*}} bound 4.2
sync.problem @plain layers ["c", "b", "a"] bytes [100, 100, 0] ready <[0.1, 0.2, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 1.0>]>] forward_end 0.05 backward_end 3.0 updates 0.0

// -----

// A bucket takes the scheme that is the fastest for its size: the tree where latency decides.

// CHECK: messages [#sync.message<layers = [0], scheme = tree, merge_class = 0, bytes = 10, ready = 0.1, start = 0.1, end = 0.7>, #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 1000, ready = 1.0, start = 1.0, end = 3.0>] finish 3.0
// WFBP: scheme = tree, {{.*}} scheme = ring
// SINGLE: messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 1010, ready = 1.0, start = 1.0, end = 3.01>]
sync.problem @schemes layers ["b", "a"] bytes [10, 1000] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.001>, traffic = 3.0>, <tree, cost = #cluster.affine<a = 0.5, b = 0.01>, traffic = 4.0>]>]
  forward_end 0.05 backward_end 1.0 updates 0.0

// -----

// The big layer goes by factors, and is reconstructed while the others, in one bucket that skips it, travel.

// CHECK: by "optimal" messages [#sync.message<layers = [1], scheme = factors, bytes = 1000, ready = 1.5, start = 1.5, end = 1.6, reconstructed = 2.1>, #sync.message<layers = [0, 2], scheme = ring, merge_class = 0, bytes = 20, ready = 2.0, start = 2.0, end = 3.2>] finish 3.2{{.*}} bound 3.2{{.*}} certificate #sync.relaxations
// WFBP: by "wfbp" messages [{{.*}}layers = [0], {{.*}}layers = [1], scheme = ring, {{.*}}layers = [2], scheme = ring, {{.*}} finish 1.420000e+01 bound 3.2
// SINGLE: by "single" messages [#sync.message<layers = [0, 1, 2], scheme = ring, {{.*}} finish 13.2{{[0-9]*}} bound 3.2
sync.problem @skip layers ["c", "b", "a"] bytes [10, 1000, 10] ready <[1.0, 1.5, 2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.1, reconstruct = 0.1, traffic = 60.0, factorBytes = 10>]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A bias rides with its weight, though it comes first.

// CHECK: by "optimal" messages [#sync.message<layers = [1], scheme = factors, bytes = 1000, ready = 1.5, start = 1.5, end = 1.6, reconstructed = 1.7000000000000002>] piggybacks [0] finish 1.7
// WFBP: by "wfbp" messages [{{.*}}layers = [0], {{.*}}layers = [1], {{.*}} finish 1.310000e+01
// SINGLE: by "single" messages [{{.*}}layers = [0, 1]
sync.problem @ride layers ["fc.bias", "fc.weight"] bytes [10, 1000] ready <[1.0, 1.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.1, reconstruct = 0.1, traffic = 60.0, factorBytes = 10>] piggybacks [0, 1]
  forward_end 0.5 backward_end 1.5 updates 0.0

// -----

// Servers are the faster way, but hold one of the two: the larger.

// CHECK: by "optimal" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 800, ready = 1.0, start = 1.0, end = 10.0>, #sync.message<layers = [1], scheme = "parameter-server", merge_class = 1, bytes = 900, ready = 1.5, start = 10.0, end = 11.0>] finish 1.100000e+01 bound 1.100000e+01
// WFBP: finish 2.000000e+01 bound 1.100000e+01
// SINGLE: finish 1.950000e+01 bound 1.100000e+01
sync.problem @capacity layers ["b", "a"] bytes [800, 900] ready <[1.0, 1.5]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>], capacity = 1000>]
  forward_end 0.5 backward_end 1.5 updates 0.0
