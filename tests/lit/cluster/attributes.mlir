// Every cluster attribute prints as it reads, twice over.
// RUN: syncline-opt %s -split-input-file | syncline-opt -split-input-file | FileCheck %s

// CHECK-LABEL: module @ring
// CHECK-SAME: cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 5.0e+10, memory = 1.0e+10, launchOverhead = 5.0e-06>,
// CHECK-SAME: collectives = [<ring, #cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-05, beta = 8.0e-10, gamma = 0.0>>]>
module @ring attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4,
  device = <compute = 5.0e10, memory = 10000000000.0, launchOverhead = 0.000005>,
  collectives = [<ring, #cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-5, beta = 8.0e-10, gamma = 0.0>>]>} {
}

// -----

// A device may lack its rates; a scheme's name may need quotes.
// CHECK-LABEL: module @profiled
// CHECK-SAME: cluster.profile = {"/a/Conv" = #cluster.times<forward = 0.5, backward = 0.1>, fc = #cluster.times<forward = 1.0>}
// CHECK-SAME: device = <launchOverhead = 0.0>, collectives = [<"halving-doubling", #cluster.formula<algorithm = "halving-doubling"
module @profiled attributes {
  cluster.profile = {"/a/Conv" = #cluster.times<forward = 0.5, backward = 0.1>, fc = #cluster.times<forward = 1.0>},
  cluster.spec = #cluster.spec<name = "", ranks = 2, device = <launchOverhead = 0.0>,
    collectives = [<"halving-doubling", #cluster.formula<algorithm = "halving-doubling", ranks = 2, alpha = 1.0, beta = 1.0, gamma = 1.0>>]>} {
}

// -----

// How messages scatter.
// CHECK-LABEL: module @scattering
// CHECK-SAME: cluster.message_scatter = [7.500000e-01, 1.000000e+00, 1.250000e+00]
module @scattering attributes {cluster.message_scatter = [0.75, 1.0, 1.25]} {
}

// -----

// Reals keep every bit: the fit of a published cluster.
// CHECK-LABEL: module @line
// CHECK-SAME: #cluster.affine<a = 0.0009080981, b = 7.3956512e-10>
module @line attributes {cluster.spec = #cluster.spec<name = "v100", ranks = 16, device = <launchOverhead = 0.0>,
  collectives = [<ring, #cluster.affine<a = 9.0809810e-4, b = 7.3956512e-10>>]>} {
}

// -----

// CHECK-LABEL: module @table
// CHECK-SAME: #cluster.table<[0, 0.0], [4096, 1.0e-04], [1048576, 0.002]>
module @table attributes {cluster.spec = #cluster.spec<name = "t", ranks = 1, device = <launchOverhead = 0.0>,
  collectives = [<tree, #cluster.table<[0, 0.0], [4096, 1.0e-4], [1048576, 2.0e-3]>>]>} {
}

// -----

// Everything a spec may say, in another order than it prints.
// CHECK-LABEL: module @whole
// CHECK-SAME: #cluster.spec<name = "w", ranks = 8, devicesPerNode = 4, device = <launchOverhead = 0.0>, link = <alpha = 5.0e-05, beta = 8.0e-10, gamma = 1.0e-11>, inside = <alpha = 1.0e-05, beta = 1.0e-10, gamma = 0.0>, halfDuplex = true, interference = 1.35, productsInterference = 1.2, memoryInterference = 1.7, latencyInterference = 1.9, messageInterference = 1.8,
// CHECK-SAME: collectives = [<hierarchical, #cluster.affine<a = 1.0, b = 0.5>, products = 1.1>, <"parameter-server", #cluster.table<[1, 2.0]>>, <factors, #cluster.affine<a = 0.0, b = 2.0>, interference = 1.2, memory = 1.5>, <"reduce-scatter", #cluster.formula<algorithm = "reduce-scatter", ranks = 8, alpha = 0.0, beta = 1.0, gamma = 0.0>>],
// CHECK-SAME: servers = <count = 2, dedicated = true, link = <alpha = 0.0, beta = 1.0e-10, gamma = 0.0>, memory = 1000000>, largestMessage = 67108864>
module @whole attributes {cluster.spec = #cluster.spec<largestMessage = 67108864, name = "w", messageInterference = 1.8, memoryInterference = 1.7, productsInterference = 1.2, latencyInterference = 1.9, interference = 1.35, halfDuplex = true, ranks = 8,
  servers = <memory = 1000000, dedicated = true, count = 2, link = <alpha = 0.0, beta = 1.0e-10, gamma = 0.0>>,
  collectives = [<hierarchical, #cluster.affine<a = 1.0, b = 0.5>, products = 1.1>, <"parameter-server", #cluster.table<[1, 2.0]>>,
    #cluster.collective<factors, #cluster.affine<a = 0.0, b = 2.0>, interference = 1.2, memory = 1.5>,
    <"reduce-scatter", #cluster.formula<algorithm = "reduce-scatter", ranks = 8, alpha = 0.0, beta = 1.0, gamma = 0.0>>],
  inside = <alpha = 1.0e-5, beta = 1.0e-10, gamma = 0.0>, link = <alpha = 5.0e-5, beta = 8.0e-10, gamma = 1.0e-11>,
  devicesPerNode = 4, device = <launchOverhead = 0.0>>} {
}

// -----

// Nodes with several cards, and nodes that differ.
// CHECK-LABEL: module @nodes
// CHECK-SAME: devicesPerNode = 2, cardsPerNode = 4, device = <launchOverhead = 0.0, memorySize = 16000000000>
// CHECK-SAME: overrides = [<nodes = [0, 3], slowdown = 1.5>, <nodes = [1], slowdown = 0.5, link = <alpha = 0.0, beta = 8.0, gamma = 0.0>>, <nodes = [2]>]>
module @nodes attributes {cluster.spec = #cluster.spec<name = "n", ranks = 8, cardsPerNode = 4, devicesPerNode = 2,
  overrides = [<slowdown = 1.5, nodes = [0, 3]>, #cluster.override<nodes = [1], link = <alpha = 0.0, beta = 8.0, gamma = 0.0>, slowdown = 0.5>,
    <nodes = [2], slowdown = 1.0>], device = <memorySize = 16000000000, launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {
}

// -----

// Defaults are not printed.
// CHECK-LABEL: module @defaults
// CHECK-SAME: #cluster.spec<name = "d", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, servers = <count = 4, dedicated = false, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>>
module @defaults attributes {cluster.spec = #cluster.spec<name = "d", ranks = 4, devicesPerNode = 1, cardsPerNode = 1, device = <launchOverhead = 0.0>,
  link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, halfDuplex = false, interference = 1.0, collectives = [], overrides = [],
  servers = <count = 4, dedicated = false, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>>} {
}

// -----

// NCCL carries the messages.
// CHECK-LABEL: module @gpus
// CHECK-SAME: link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, nccl = true>}
module @gpus attributes {cluster.spec = #cluster.spec<name = "g", ranks = 4, nccl = true, device = <launchOverhead = 0.0>,
  link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {
}

// -----

// A scheme alone, as operations of other dialects name theirs.
// CHECK-LABEL: module @schemes
// CHECK-SAME: x.schemes = [#cluster<scheme ring>, #cluster<scheme "recursive-doubling">, #cluster<scheme "halving-doubling">, #cluster<scheme tree>, #cluster<scheme "reduce-scatter">, #cluster<scheme hierarchical>, #cluster<scheme "parameter-server">, #cluster<scheme factors>]
module @schemes attributes {x.schemes = [#cluster<scheme ring>, #cluster<scheme "recursive-doubling">, #cluster<scheme "halving-doubling">,
  #cluster<scheme tree>, #cluster<scheme "reduce-scatter">, #cluster<scheme hierarchical>, #cluster<scheme "parameter-server">,
  #cluster<scheme factors>]} {
}

// -----

// Kernels of a device, with numbers by name.
// CHECK-LABEL: module @kernels
// CHECK-SAME: device = <launchOverhead = 0.0, kernels = <like = "pytorch-nchw", numbers = {bandwidth = 2.039000e+12 : f64, fp32 = 1.950000e+13 : f64}>>
module @kernels attributes {cluster.spec = #cluster.spec<name = "a", ranks = 1,
  device = <launchOverhead = 0.0, kernels = <like = "pytorch-nchw", numbers = {fp32 = 1.95e13 : f64, bandwidth = 2.039e12 : f64}>>,
  link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {
}
