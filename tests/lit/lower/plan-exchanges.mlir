// Which weights travel when, where gradients stay on their rank.
// RUN: syncline-opt --plan-exchanges --split-input-file %s | FileCheck %s
// RUN: syncline-opt --plan-exchanges="requested=w=tree,u=ring,v=ring" --split-input-file %s | FileCheck %s --check-prefix=ASKED

module attributes {cluster.spec = #cluster.spec<name = "two", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <tree, #cluster.affine<a = 0.5, b = 0.01>>]>} {
sync.problem @merge layers ["w"] bytes [64] ready <[0.1]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.0, b = 0.0>, traffic = 0.0>]>]
  forward_end 0.0 backward_end 0.1 updates 0.0
  consistency <diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7>

// Fragments are of nearly equal size, and each takes what is fastest for its bytes.
// CHECK: plan.program @halves
// CHECK-SAME: consistency = #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7>
// CHECK: plan.bucket 0
// CHECK-NEXT: plan.exchange 0 members ["w"] by ring at 0 extent 128 bytes 128 start 3 wait 4 seconds 1.000000e+00
// CHECK-NEXT: plan.exchange 1 members ["u", "v"] by ring at 128 extent 128 bytes 80 start 7 wait 8
// A request decides instead; the first fragment by the tree takes 0.5 + 0.01 * 128 s.
// ASKED: plan.exchange 0 members ["w"] by tree at 0 extent 128 bytes 128 start 3 wait 4 seconds 1.78
plan.program @halves ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 256 : i64, gradients = 256 : i64, state = 64 : i64, arena = 512 : i64} {
  %w = plan.tensor "w" in parameters at 0 reserve 128 {bucket = 0 : i64} : memref<8x4xf32>
  %u = plan.tensor "u" in parameters at 128 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
  %v = plan.tensor "v" in parameters at 192 reserve 64 {bucket = 0 : i64} : memref<4xf32>
  plan.bucket 0 members ["w", "u", "v"] by ring channel 0 at 0 extent 256 bytes 208
}
}
