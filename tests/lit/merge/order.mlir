// Orders: where the next forward pass waits for each gradient alone, messages cut gradients and overtake each other. Trees have no halves (order-halves.mlir).
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step},solve-merge,check-solutions)' | FileCheck %s
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step},solve-merge{planner=wfbp},check-solutions)' | FileCheck %s --check-prefix=WFBP

// "conv" is ready last and read first, so its message overtakes the rest of "fc1". Ready times count from the step's beginning,
// times of messages from the beginning of the backward pass, at 3 s. The last byte of "fc1" arrives at 9.75 s, and 2 s follow;
// bytes of "fc2" for which 1 s is enough come last.
// CHECK: sync.problem @merge layers ["fc2", "fc1", "conv"] bytes [256, 512, 128] ready <[5.0, 7.0, 9.0]>
// CHECK-SAME: tails <[1.0, 2.0, 3.0]> own_updates <[0.0, 0.0, 0.0]>
// CHECK: by "optimal" messages [#sync.message<layers = [0], scheme = tree, merge_class = 0, bytes = 64, cut = [192, 0], ready = 2.0, start = 2.0, end = 2.75>,
// CHECK-SAME: #sync.message<layers = [0], scheme = tree, merge_class = 0, bytes = 128, cut = [0, 128], ready = 2.0, start = 2.75, end = 4.0>,
// CHECK-SAME: #sync.message<layers = [1], scheme = tree, merge_class = 0, bytes = 320, cut = [0, 192], ready = 4.0, start = 4.0, end = 6.75>,
// CHECK-SAME: #sync.message<layers = [2], scheme = tree, merge_class = 0, bytes = 128, ready = 6.0, start = 6.75, end = 8.0>,
// CHECK-SAME: #sync.message<layers = [1], scheme = tree, merge_class = 0, bytes = 192, cut = [320, 0], ready = 4.0, start = 8.0, end = 9.75>,
// CHECK-SAME: #sync.message<layers = [0], scheme = tree, merge_class = 0, bytes = 64, cut = [128, 64], ready = 2.0, start = 9.75, end = 10.5>]
// CHECK-SAME: finish 1.175000e+01 bound 1.150000e+01 certificate #sync.order<ready = 4.0, tail = 2.0, lines = [0.25, 0.0078125]>

// A rule keeps its messages and their order; "conv" arrives at 9.75 s, and 3 s follow.
// WFBP: layers = [0], {{.*}}layers = [1], {{.*}}layers = [2], {{[^>]*}} end = 9.75>]
// WFBP-SAME: finish 1.275000e+01 bound 1.150000e+01
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<tree, #cluster.affine<a = 0.25, b = 0.0078125>>]>} {
sync.trace @net {
  sync.layer "conv" bytes 128 forward 1.0 backward 2.0
  sync.layer "fc1" bytes 512 forward 1.0 backward 2.0
  sync.layer "fc2" bytes 256 forward 1.0 backward 2.0
}
}
