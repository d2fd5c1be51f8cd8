// Orders where messages slow computation: half of a message's time is taken from it.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step},solve-merge,check-solutions)' | FileCheck %s
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step},solve-merge{planner=wfbp},check-solutions)' | FileCheck %s

// "fc2" takes 1.125 s from computation, so that "fc1" exists at 5.125 s by the true clock. Its message takes 2.125 s; when it
// ends, "conv" has existed for 0.25 s. 3 s of the next forward pass follow the message of "conv".
// CHECK: #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0, lost = #cluster.affine<a = 0.125, b = 0.00390625>>
// CHECK: messages [#sync.message<layers = [0], scheme = tree, merge_class = 0, bytes = 256, ready = 2.0, start = 2.0, end = 4.25>,
// CHECK-SAME: #sync.message<layers = [1], scheme = tree, merge_class = 0, bytes = 512, ready = 5.125, start = 5.125, end = 9.375>,
// CHECK-SAME: #sync.message<layers = [2], scheme = tree, merge_class = 0, bytes = 128, ready = 9.125, start = 9.375, end = 10.625>]
// CHECK-SAME: finish 1.362500e+01 bound 13.35{{[0-9]*}} certificate #sync.order<ready = 6.0, tail = 3.0, lines = [0.25, 0.0078125]>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, interference = 2.0, collectives = [<tree, #cluster.affine<a = 0.25, b = 0.0078125>>]>} {
sync.trace @net {
  sync.layer "conv" bytes 128 forward 1.0 backward 2.0
  sync.layer "fc1" bytes 512 forward 1.0 backward 2.0
  sync.layer "fc2" bytes 256 forward 1.0 backward 2.0
}
}
