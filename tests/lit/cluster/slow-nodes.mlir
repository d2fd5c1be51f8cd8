// Every step waits for the slowest node: its times are everyone's, its link carries every scheme.
// RUN: syncline-opt %s --split-input-file --pose-problem | FileCheck %s

// A trace's times, and the ring over the slow link.

// CHECK: sync.problem @merge layers ["b", "a"] bytes [30, 10] ready <[10.5, 15.0]>
// CHECK-SAME: <ring, cost = #cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0, beta = 4.0, gamma = 0.0>
// CHECK-SAME: forward_end 6.0{{.*}} backward_end 1.5{{0*}}e+01
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 2.0, gamma = 0.0>,
  overrides = [<nodes = [1], slowdown = 1.5>, <nodes = [3], slowdown = 0.5, link = <alpha = 2.0, beta = 4.0, gamma = 0.0>>]>} {
  sync.trace @net {
    sync.layer "a" bytes 10 forward 1.0 backward 3.0
    sync.layer "b" bytes 30 forward 3.0 backward 3.0
  }
}

// -----

// Reconstruction a matrix from its factors is slower, too, by the device's rate and by the trace: 2·10·20·8 operations at 50 a second.

// CHECK: sync.problem @merge
// CHECK-SAME: reconstruct = 192.0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 100.0, launchOverhead = 0.0>,
  link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, overrides = [<nodes = [1], slowdown = 2.0>]>} {
  sync.trace @net {
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// CHECK: sync.problem @merge
// CHECK-SAME: reconstruct = 9.0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
  link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, overrides = [<nodes = [1], slowdown = 2.0>]>} {
  sync.trace @net {
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}
