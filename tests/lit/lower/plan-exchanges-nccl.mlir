// Weights that travel between GPUs: by NCCL's all-reduces, and by no servers.
// RUN: syncline-opt --plan-exchanges --split-input-file --verify-diagnostics %s | FileCheck %s

// The faster one of NCCL's ring and tree. The cluster's other all-reduces are not NCCL's.
// CHECK: plan.exchange 0 members ["w"] by tree at 0 extent 128 bytes 128 start 3 wait 4 seconds 5.000000e-01
// CHECK-NEXT: plan.exchange 1 members ["u", "v"] by tree at 128 extent 128 bytes 80 start 7 wait 8 seconds 5.000000e-01
module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 0.5, b = 0.0>>, <"halving-doubling", #cluster.affine<a = 0.1, b = 0.0>>], nccl = true>} {
sync.problem @merge layers ["w"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  forward_end 0.0 backward_end 0.1 updates 0.0
  consistency <diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 256 : i64, gradients = 256 : i64, state = 64 : i64, arena = 512 : i64} {
  %w = plan.tensor "w" in parameters at 0 reserve 128 {bucket = 0 : i64} : memref<8x4xf32>
  %u = plan.tensor "u" in parameters at 128 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 192 reserve 64 {bucket = 0 : i64} : memref<4xf32>
  plan.bucket 0 members ["w", "u", "v"] by ring channel 0 at 0 extent 256 bytes 208
}
}

// -----

// P31: forms by servers.
module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.01, gamma = 0.0>, nccl = true>} {
// expected-error @+1 {{P31: the weights of 'ssp:3' travel by servers, which GPUs do not have; expected '--backend cpu', or 'local', 'diloco' or 'easgd' by sync1, sync2 or sync3}}
sync.problem @merge layers ["w"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  forward_end 0.0 backward_end 0.1 updates 0.0
  consistency <ssp, upper = 3>
plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 512 : i64} {
  %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
}
}
