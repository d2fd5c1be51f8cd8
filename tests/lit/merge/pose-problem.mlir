// RUN: syncline-opt %s --pose-problem | FileCheck %s

// A trace's gradients in backward order, each ready when its layer's backward ends; a layer without bytes has none.

// CHECK: sync.problem @merge layers ["c", "a"] bytes [30, 10] ready [{{9.0|9}}{{.*}}, 14.0] forward_end 6.0{{.*}} backward_end 1.4{{.*}} cost #cluster.affine<a = 0.5, b = 0.0>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.5, b = 0.0>>]>} {
  sync.trace @net {
    sync.layer "a" bytes 10 forward 1.0 backward 3.0
    sync.layer "b" bytes 0 forward 2.0 backward 2.0
    sync.layer "c" bytes 30 forward 3.0 backward 3.0
  }
}
