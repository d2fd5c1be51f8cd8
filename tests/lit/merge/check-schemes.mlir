// Problems of the cluster and the trace beside them.
// RUN: syncline-opt --check-solutions --split-input-file %patched | FileCheck %s

// Base: All that is offered; servers too small for everything in a merge class of their own.
// CHECK: sync.solution
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Valid: Reduce-scatter that was requested; the updates that its messages do take no time in a trace.
// CHECK: sync.solution
drop merge_classes
drop <[<"parameter-server"
drop factor_options
before forward_end | merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.0>, traffic = 2.0>], largest = 80>] requested ["*=reduce-scatter"]
change layers = [0], scheme = ring => layers = [0], scheme = "reduce-scatter"
change end = 70.0 => end = 69.0
change layers = [1], scheme = ring => layers = [1], scheme = "reduce-scatter"
change start = 70.0, end = 137.0>] finish 137.0 => start = 69.0, end = 135.0>] finish 135.0

// -----

// Valid: A layer that may only take the ring, which was requested.
// CHECK: sync.solution
before forward_end | only [1, 3] requested ["b=ring"]

// -----

// Asked for by the layer that reads the parameter in the program; 64 B take 10 s to update (5 * 64 B at 32 B/s), of which each of two
// ranks takes half.
// CHECK: sync.solution
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <compute = 64.0, memory = 32.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>]>} {
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.078125>, traffic = 2.0>]>] requested ["/fc/Gemm=reduce-scatter"]
    forward_end 2.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 74.0>] finish 74.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 0] : memref<4x4xf32>
    plan.call matmul "/fc/Gemm" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  }
}
