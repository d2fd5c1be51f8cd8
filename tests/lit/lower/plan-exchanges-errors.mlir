// Forms that the cluster cannot carry (P31).
// RUN: syncline-opt --plan-exchanges --split-input-file --verify-diagnostics %patched

// Base: Ranks serve over a network.
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

// Neither servers nor a network over which ranks may serve.
change link = <alpha = 1.0, beta = 0.01, gamma = 0.0> => collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 0.5, b = 0.01>>]
error plan.program | P31: 'parameter-server' cannot carry 'ssp:3', expected 'parameter-server' and a cluster that has servers or a network

// -----

// More servers than the weights have units of 64 bytes.
change consistency <ssp, upper = 3> => consistency <asp>
change module | ranks = 2 => ranks = 5
change plan.program | ranks 2 => ranks 5
error P31: expected at least 64 B of weights for each of 5 servers, got 256 B for all

// -----

// Servers that cannot hold the weights.
change consistency <ssp, upper = 3> => consistency <asp>
change gamma = 0.0> => gamma = 0.0>, servers = <count = 3, dedicated = true, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>, memory = 64>
error plan.program | P31: the weights have 256 B, expected at most the 192 B that all servers can hold

// -----

// A shard beyond the cluster's largest message.
change consistency <ssp, upper = 3> => consistency <asp>
change gamma = 0.0> => gamma = 0.0>, largestMessage = 100
error plan.program | P31: the shard of server 0 has 128 B, expected at most the cluster's largest message of 100 B; more servers have smaller shards

// -----

// sync1 sums along a tree, which the cluster does not offer.
change consistency <ssp, upper = 3> => consistency <easgd, variant = sync1, rho = 0.1>
change link = <alpha = 1.0, beta = 0.01, gamma = 0.0> => collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]
error plan.program | P31: 'tree' cannot carry 'easgd:sync1,0.1,1', expected 'tree' and a cluster that offers it
