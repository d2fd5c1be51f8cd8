// RUN: not syncline-opt %s --solve-merge=planner=fastest 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not syncline-opt %s --solve-merge=planner=ps 2>&1 | FileCheck %s --check-prefix=PS
// RUN: not syncline-opt %s --solve-merge=planner=single 2>&1 | FileCheck %s --check-prefix=SINGLE
// RUN: not syncline-opt %s '--solve-merge=channels=9' 2>&1 | FileCheck %s --check-prefix=CHANNELS

// What a planner cannot answer is said with its name and what it lacks.

// CHANNELS: error: expected 1 to 8 channels, got 9
// NAME: error: unknown planner 'fastest', expected one of optimal, wfbp,
// PS: error: planner 'ps': {{.*}}parameter servers
// SINGLE: error: planner 'single': {{.*}}layer 2
sync.problem @p layers ["fc2", "fc1"] bytes [4, 1000] ready <[1.0, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>, #sync.merge_class<[<tree, cost = #cluster.affine<a = 1.0, b = 0.01>, traffic = 3.0>]>]
  only [1, 2] forward_end 0.5 backward_end 3.0 updates 0.0
