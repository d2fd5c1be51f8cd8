// An order of a trace's layers: the next step waits for a message where a layer reads its gradient's parameter.
// RUN: syncline-opt %s --pass-pipeline='builtin.module(pose-problem{overlap=step},solve-merge,check-solutions,predict-times,check-plan)' | FileCheck %s

// A byte takes 1/64 s. From 1 s of the backward pass on the channel is needed for 5 s, and 1 s of the forward pass follows, so no period
// is below 7 s. In the next step "conv" waits for 1 s and "fc" for half a second.
// CHECK: sync.problem @merge layers ["fc.w", "conv.w"] {{.*}} tails <[1.0, 2.0]> own_updates <[0.0, 0.5]>
// CHECK: finish 7.000000e+00 bound 7.000000e+00
// CHECK: end <[6.0, 7.0, 8.0, 9.0, 10.0]> {{.*}} exposed <[0.0, 0.0, 1.0, 0.0, 0.5]> forward_end 4.000000e+00 backward_end 7.000000e+00
// CHECK-SAME: communication_end 1.000000e+01 {{.*}} step 7.000000e+00
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<tree, #cluster.affine<a = 0.0, b = 0.015625>>]>} {
sync.trace @net {
  sync.layer "conv" bytes 0 forward 1.0 backward 0.0
  sync.layer "conv.w" bytes 64 forward 0.0 backward 2.0 {reader = "conv", update = 0.5 : f64}
  sync.layer "fc" bytes 0 forward 1.0 backward 0.0
  sync.layer "fc.w" bytes 256 forward 0.0 backward 1.0 {reader = "fc"}
}
}
