// RUN: syncline-opt %s --split-input-file --pose-problem | FileCheck %s

// A trace's gradients in backward order, each ready when its layer's backward ends; a layer without bytes has none. What the cluster
// states is all there is.

// CHECK: sync.problem @merge layers ["c", "a"] bytes [30, 10] ready <[9.0, 14.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.5, b = 0.0>, traffic = 3.0>]>] forward_end 6.0{{.*}} backward_end 1.4{{.*}} updates 0.0
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 0.5, b = 0.0>>]>} {
  sync.trace @net {
    sync.layer "a" bytes 10 forward 1.0 backward 3.0
    sync.layer "b" bytes 0 forward 2.0 backward 2.0
    sync.layer "c" bytes 30 forward 3.0 backward 3.0
  }
}

// -----

// Over a network all all-reduces and colocated servers share a merge class, each with its traffic, and a layer that is a product of factors may
// also go by them: 3 (1 + 8 (10 + 20) 4 0.5) = 1443 s, then 3 times 2·10·20·8 operations.

// CHECK: sync.problem @merge layers ["fc", "conv"]
// CHECK-SAME: merge_classes [#sync.merge_class<[<ring, cost = #cluster.formula<algorithm = ring, ranks = 4, alpha = 1.0, beta = 0.5, gamma = 0.25>, traffic = 3.0>, <"recursive-doubling", cost = #cluster.formula<algorithm = "recursive-doubling", {{[^>]*}}>, traffic = 4.0>, <"halving-doubling", cost = {{[^>]*}}>, traffic = 3.0>, <tree, cost = {{[^>]*}}>, traffic = 4.0>, <"parameter-server", cost = #cluster.affine<a = {{.*}}>, traffic = 3.0>]>]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1443.0, reconstruct = 96.0, traffic = 5760.0, factorBytes = 960>]
// CHECK-NOT: only
// CHECK-SAME: forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 100.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// A layer's bytes may count its bias; where the device has no rate, reconstruction a share takes half of the backward time. Other bytes are
// those of no such matrix: there are no factors then.

// CHECK: layers ["odd", "biased"]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = {{.*}}, reconstruct = 4.5, traffic = {{.*}}, factorBytes = 960>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  sync.trace @net {
    sync.layer "biased" bytes 880 forward 1.0 backward 3.0 matmul [10, 20, 8]
    sync.layer "odd" bytes 884 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// One rank has nothing to gather.

// CHECK: sync.problem
// CHECK-NOT: factor options
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 1, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  sync.trace @net {
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// Devices of a node reduce inside it first: 2 devices and 2 nodes. 2·1 + 2·3 s of latency; half of the bytes twice inside, then half of
// the bytes twice between, each reduced once.

// CHECK: <hierarchical, cost = #cluster.affine<a = 8.0, b = 0.9375>, traffic = 3.0>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, devicesPerNode = 2, device = <launchOverhead = 0.0>, link = <alpha = 3.0, beta = 0.5, gamma = 0.25>,
    inside = <alpha = 1.0, beta = 0.125, gamma = 0.5>>} {
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// Stated all-reduces take the place of all formulas of all-reduces, a stated all-gather that of the factors' formula.

// CHECK: merge_classes [#sync.merge_class<[<tree, cost = #cluster.affine<a = 0.5, b = 0.0>, traffic = 4.0>, <"parameter-server", cost = #cluster.affine<a = 0.125, b = 0.0>, traffic = 3.0>]>]
// CHECK-SAME: factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 964.0, {{.*}}>]
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>,
    collectives = [<tree, #cluster.affine<a = 0.5, b = 0.0>>, <"parameter-server", #cluster.affine<a = 0.125, b = 0.0>>, <factors, #cluster.affine<a = 4.0, b = 1.0>>]>} {
  sync.trace @net {
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}

// -----

// A half duplex network carries what a rank sends and what it receives one after the other, by trees too.

// CHECK: algorithm = ring, ranks = 4, alpha = 1.0, beta = 1.0, gamma = 0.25>
// CHECK-SAME: algorithm = "recursive-doubling", ranks = 4, alpha = 1.0, beta = 1.0, gamma = 0.25>
// CHECK-SAME: algorithm = "halving-doubling", ranks = 4, alpha = 1.0, beta = 1.0, gamma = 0.25>
// CHECK-SAME: algorithm = tree, ranks = 4, alpha = 1.0, beta = 1.0, gamma = 0.25>
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, halfDuplex = true>} {
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// Two servers that hold 600 bytes each do not take 1600: they are a merge class of their own, with that capacity. No bucket is larger than the
// largest message.

// CHECK: merge_classes [#sync.merge_class<[<ring, {{.*}}>, traffic = 4.0>], largest = 1500>, #sync.merge_class<[<"parameter-server", {{.*}}>, traffic = 2.0>], largest = 1500, capacity = 1200>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>,
    servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, memory = 600>, largestMessage = 1500>} {
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
    sync.layer "b" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// Where they take everything, they share the merge class.

// CHECK: merge_classes [#sync.merge_class<[<ring, {{.*}}<"parameter-server", {{.*}}>, traffic = 2.0>]>] forward_end
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>,
    servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, memory = 800>>} {
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
    sync.layer "b" bytes 800 forward 1.0 backward 3.0
  }
}
