// RUN: syncline-opt %s --solve-merge=planner=ps --check-solutions | FileCheck %s --check-prefix=PS
// RUN: syncline-opt %s --solve-merge=planner=sfb --check-solutions | FileCheck %s --check-prefix=SFB
// RUN: syncline-opt %s --solve-merge=planner=poseidon --check-solutions | FileCheck %s --check-prefix=POSEIDON

// Rules that choose a scheme a layer: servers for all, factors wherever they can be, factors where they move fewer bytes. Each layer
// goes alone; the bias rides where its weight goes by factors.

// PS: by "ps" messages [{{.*}}layers = [0], scheme = "parameter-server", {{.*}}layers = [1], scheme = "parameter-server", {{.*}}layers = [2], scheme = "parameter-server", {{.*}}layers = [3], scheme = "parameter-server", {{.*}}] finish
// SFB: by "sfb" messages [{{.*}}layers = [1], scheme = factors, {{.*}}layers = [2], scheme = factors, {{.*}}layers = [3], scheme = "parameter-server", {{.*}}] piggybacks [0] finish
// POSEIDON: by "poseidon" messages [{{.*}}layers = [0], scheme = "parameter-server", {{.*}}layers = [1], scheme = "parameter-server", {{.*}}layers = [2], scheme = factors, {{.*}}layers = [3], scheme = "parameter-server", {{.*}}] finish
sync.problem @p layers ["fc2.bias", "fc2.weight", "fc1.weight", "conv"] bytes [4, 1000, 2000, 500] ready <[1.0, 1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>, <"parameter-server", cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 3001.0>,
         #sync.factor_option<layer = 2, scheme = factors, seconds = 0.5, reconstruct = 0.1, traffic = 6000.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
