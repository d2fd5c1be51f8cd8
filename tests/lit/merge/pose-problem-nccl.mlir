// What a cluster offers where NCCL carries the messages.
// RUN: syncline-opt %s --split-input-file --pose-problem | FileCheck %s

// Over a network: no doubling schemes, and no hierarchical all-reduce, though nodes have two devices. A tree over two nodes, with chains
// of two inside: 2 (1 + 0.125) s, and every byte up and down: 2 0.5 + 0.25.

// CHECK: sync.problem @merge layers ["fc", "conv"]
// CHECK-SAME: merge_classes [#sync.merge_class<[<ring, cost = #cluster.formula<algorithm = ring, {{[^>]*}}>, traffic = 3.0>, <tree, cost = #cluster.affine<a = 2.25, b = 1.25>, traffic = 4.0>, <"parameter-server", cost = {{[^>]*}}>, traffic = 3.0>]>]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, scheme = factors
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, devicesPerNode = 2, device = <compute = 100.0, launchOverhead = 0.0>,
    link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, inside = <alpha = 0.125, beta = 0.25, gamma = 0.0>, nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// The problem has those of the cluster's stated all-reduces that NCCL has.

// CHECK: sync.problem @merge layers ["conv"]
// CHECK-SAME: merge_classes [#sync.merge_class<[<tree, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 4.0>]>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
    collectives = [<"recursive-doubling", #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 2.0, b = 0.0>>], nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// What NCCL chooses, where its time was measured. Its bytes count as those of a ring.

// CHECK: sync.problem @merge layers ["conv"]
// CHECK-SAME: merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 3.0>, <library, cost = #cluster.table<[0, 1.0], [1000, 3.0]>, traffic = 3.0>]>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>, <library, #cluster.table<[0, 1.0], [1000, 3.0]>>], nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// Without anything inside, every rank is a node: 2 ceil(log2 6) s. Half a link carries what goes up and what goes down one after the other.

// CHECK: sync.problem @merge layers ["conv"]
// CHECK-SAME: <tree, cost = #cluster.affine<a = 6.0, b = 2.25>, traffic = 4.0>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 6, devicesPerNode = 2, device = <launchOverhead = 0.0>,
    link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, halfDuplex = true, nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// One rank sends nothing.

// CHECK: sync.problem @merge layers ["conv"]
// CHECK-SAME: <tree, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 1, device = <launchOverhead = 0.0>,
    link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// Messages go between ranks: not to servers on machines of their own.

// CHECK: sync.problem @merge layers ["conv"]
// CHECK-SAME: merge_classes [#sync.merge_class<[<ring, {{[^>]*}}>, traffic = 3.0>, <tree, {{[^>]*}}>, traffic = 4.0>]>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>,
    servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>, nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}
