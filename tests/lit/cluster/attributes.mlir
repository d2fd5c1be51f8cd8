// Every cluster attribute prints as it reads, twice over.
// RUN: syncline-opt %s -split-input-file | syncline-opt -split-input-file | FileCheck %s

// CHECK-LABEL: module @ring
// CHECK-SAME: cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 5.0e+10, memory = 1.0e+10, launchOverhead = 5.0e-06>,
// CHECK-SAME: allReduce = #cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-05, beta = 8.0e-10, gamma = 0.0>>
module @ring attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4,
  device = <compute = 5.0e10, memory = 10000000000.0, launchOverhead = 0.000005>,
  allReduce = #cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-5, beta = 8.0e-10, gamma = 0.0>>} {
}

// -----

// A device may lack its rates; an algorithm's name may need quotes.
// CHECK-LABEL: module @profiled
// CHECK-SAME: cluster.profile = {"/a/Conv" = #cluster.times<forward = 0.5, backward = 0.1>, fc = #cluster.times<forward = 1.0>}
// CHECK-SAME: device = <launchOverhead = 0.0>, allReduce = #cluster.formula<algorithm = "halving-doubling"
module @profiled attributes {
  cluster.profile = {"/a/Conv" = #cluster.times<forward = 0.5, backward = 0.1>, fc = #cluster.times<forward = 1.0>},
  cluster.spec = #cluster.spec<name = "", ranks = 2, device = <launchOverhead = 0.0>,
    allReduce = #cluster.formula<algorithm = "halving-doubling", ranks = 2, alpha = 1.0, beta = 1.0, gamma = 1.0>>} {
}

// -----

// Reals keep every bit: the fit of a published cluster.
// CHECK-LABEL: module @line
// CHECK-SAME: #cluster.affine<a = 0.0009080981, b = 7.3956512e-10>
module @line attributes {cluster.spec = #cluster.spec<name = "v100", ranks = 16, device = <launchOverhead = 0.0>,
  allReduce = #cluster.affine<a = 9.0809810e-4, b = 7.3956512e-10>>} {
}

// -----

// CHECK-LABEL: module @table
// CHECK-SAME: #cluster.table<[0, 0.0], [4096, 1.0e-04], [1048576, 0.002]>
module @table attributes {cluster.spec = #cluster.spec<name = "t", ranks = 1, device = <launchOverhead = 0.0>,
  allReduce = #cluster.table<[0, 0.0], [4096, 1.0e-4], [1048576, 2.0e-3]>>} {
}
