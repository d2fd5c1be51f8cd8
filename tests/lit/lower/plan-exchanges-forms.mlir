// Weights that travel by servers, and EASGD by all-reduces.
// RUN: syncline-opt --plan-exchanges --split-input-file %patched | FileCheck %s

// Base: Without stated servers there is one beside every rank. The message takes what servers take:
// the formula of colocated servers over the link.
// CHECK: plan.program {{.*}}consistency = #sync.consistency<ssp, upper = 3>
// CHECK-NOT: servers
// CHECK: plan.exchange 0 members ["w", "u", "v"] by "parameter-server" at 0 extent 256 bytes 208 start 1 wait 4 seconds
// CHECK-NEXT: plan.shard 0 at 0 extent 128
// CHECK-NEXT: plan.shard 1 at 128 extent 128
module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>>} {
sync.problem @merge layers ["w"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  forward_end 0.0 backward_end 0.1 updates 0.0
  consistency <ssp, upper = 3>
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 256 : i64, gradients = 256 : i64, state = 64 : i64, arena = 512 : i64} {
  %w = plan.tensor "w" in parameters at 0 reserve 128 {bucket = 0 : i64} : memref<8x4xf32>
  %u = plan.tensor "u" in parameters at 128 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 192 reserve 64 {bucket = 0 : i64} : memref<4xf32>
  plan.bucket 0 members ["w", "u", "v"] by ring channel 0 at 0 extent 256 bytes 208
}
}

// -----

// Dedicated servers are the program's, and shards differ by 64 bytes. Nothing bounds an arrival.
// CHECK: plan.program {{.*}}consistency = #sync.consistency<asp>, servers = 3
// CHECK: by "parameter-server" at 0 extent 256 bytes 208 start 1 seconds
// CHECK-NEXT: plan.shard 0 at 0 extent 64
// CHECK-NEXT: plan.shard 1 at 64 extent 64
// CHECK-NEXT: plan.shard 2 at 128 extent 128
change gamma = 0.0> => gamma = 0.0>, servers = <count = 3, dedicated = true, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>>
change consistency <ssp, upper = 3> => consistency <asp>

// -----

// A lead of up to `upper` steps.
// CHECK: plan.exchange 0 {{.*}} start 1 wait 16 seconds
change consistency <ssp, upper = 3> => consistency <dssp, lower = 3, upper = 15>

// -----

// EASGD exchanges beside a step.
// CHECK: plan.exchange 0 {{.*}} by "parameter-server" {{.*}} start 0 wait 1 seconds
change consistency <ssp, upper = 3> => consistency <easgd, variant = async, rho = 0.1>

// -----

// Synchronous EASGD takes the tree though the ring is faster; the stated servers stay without work.
// CHECK: plan.program
// CHECK-NOT: servers
// CHECK: plan.exchange 0 {{.*}} by tree at 0 extent 256 bytes 208 start 0 wait 0 seconds
// CHECK-NOT: plan.shard
change link = <alpha = 1.0, beta = 0.01, gamma = 0.0> => collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 0.5, b = 0.01>>], servers = <count = 3, dedicated = true, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>>
change consistency <ssp, upper = 3> => consistency <easgd, variant = sync2, rho = 0.1>

// -----

// Its third variant hides the message behind a step.
// CHECK: plan.exchange 0 {{.*}} by tree at 0 extent 256 bytes 208 start 0 wait 1 seconds
change link = <alpha = 1.0, beta = 0.01, gamma = 0.0> => collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 0.5, b = 0.01>>]
change consistency <ssp, upper = 3> => consistency <easgd, period = 2, variant = sync3, rho = 0.1>
