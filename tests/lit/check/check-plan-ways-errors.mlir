// Problems that hide ways to travel which the program has: P23.
// RUN: syncline-opt --predict-times --check-plan --split-input-file --verify-diagnostics %patched

// Base: A product that could travel by factors, and a bias that could ride.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  sync.problem @merge layers ["w", "b"] bytes [64, 16] ready <[3.0, 3.5]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 129.0, reconstruct = 2.5, traffic = 256.0, factorBytes = 128>]
    piggybacks [1, 0] 
    forward_end 1.0 backward_end 3.5 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 80, ready = 3.5, start = 3.5, end = 5.5>]
    finish 5.5 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %b = plan.tensor "b" in parameters at 64 reserve 64 {bucket = 0 : i64} : memref<4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %db = plan.tensor "b" in gradients at 64 reserve 64 {bucket = 0 : i64} : memref<4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 2] : memref<4x4xf32>
    plan.bucket 0 members ["w", "b"] by ring channel 0 at 0 extent 128 bytes 80
    plan.phase forward
    plan.call matmul "h" ["a", "b", "bias", "y"] ins(%x, %w, %b : memref<4x4xf32>, memref<4x4xf32>, memref<4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.call reduce "db" ["x", "y"] ins(%h : memref<4x4xf32>) outs(%db : memref<4xf32>) {axes = array<i64: 0>, kind = #nn<reduction sum>, seconds = 0.5 : f64}
    plan.issue 0
    plan.phase update
    plan.wait 0
    plan.update 0
  }
}

// -----

// Ways that nobody knows of are ways that no plan was compared with.
drop factor_options
drop piggybacks [1, 0]
error sync.problem | P23: expected a way for 'w' to travel alone by factors, which the program's operations give
note plan.program | the program

// -----

// A mean would train other values, whichever scheme is requested.
change reduction sum => reduction mean
change piggybacks [1, 0] => requested ["*=ring"]
drop factor_options
error sync.problem | P23h: expected the gradient 'b' to be a sum over samples, as the product beside it is, got another reduction
note plan.program | the program

// -----

// The factor option has the bytes of one factor instead of two.
change seconds = 129.0 => seconds = 65.0
change traffic = 256.0 => traffic = 128.0
change factorBytes = 128 => factorBytes = 64
error sync.problem | P23: expected 'w' to have factors of 128 B that are reconstructed in 2.5
note plan.program | the program

// -----

// Reconstructed more slowly than the program's operations are.
change reconstruct = 2.5 => reconstruct = 99.0
error sync.problem | P23: expected 'w' to have factors of 128 B that are reconstructed in 2.5
note plan.program | the program

// -----

// A sum is no product.
change factorBytes = 128> => factorBytes = 128>, #sync.factor_option<layer = 1, scheme = factors, seconds = 2.0, reconstruct = 1.0, traffic = 2.0, factorBytes = 1>
error sync.problem | P23: expected no way for 'b' to travel alone by factors, which the program's operations or what was requested do not give
note plan.program | the program

// -----

// A bias that could ride.
drop piggybacks [1, 0]
error sync.problem | P23: expected as piggybacks the sums that the program computes beside products, [1, 0]
note plan.program | the program

// -----

// Asked for another scheme, and has factors.
change piggybacks [1, 0] => requested ["h=ring"]
error sync.problem | P23: expected no way for 'w' to travel alone by factors, which the program's operations or what was requested do not give
note plan.program | the program

// -----

// Asked for by a name that nothing has.
change piggybacks [1, 0] => piggybacks [1, 0] requested ["zzz=ring"]
error sync.problem | P23: no layer matches 'zzz', which shall travel by 'ring'

// -----

// State may be copied in a circle, one step's to the next: what is read is what was written before, and is stored.
change state = 64 => state = 128
change "h" in arena | live [0, 2] => live [0, 4]
change matmul "dw" | %x => %s
before plan.bucket 0 | %s = plan.tensor "s" in state at 0 reserve 64 : memref<4x4xf32>
before plan.bucket 0 | %r = plan.tensor "r" in state at 64 reserve 64 : memref<4x4xf32>
before plan.phase backward | plan.call reshape "r" ["x", "y"] ins(%s : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
before plan.phase backward | plan.call reshape "s" ["x", "y"] ins(%r : memref<4x4xf32>) outs(%s : memref<4x4xf32>)
error sync.problem | P23: expected no way for 'w' to travel alone by factors, which the program's operations or what was requested do not give
note plan.program | the program

// -----

// A copy of such state is no sum that rides.
drop reduce "db"
change state = 64 => state = 128
change "h" in arena | live [0, 2] => live [0, 4]
before plan.bucket 0 | %s = plan.tensor "s" in state at 0 reserve 64 : memref<4x4xf32>
before plan.bucket 0 | %r = plan.tensor "r" in state at 64 reserve 64 : memref<4x4xf32>
before plan.phase backward | plan.call reshape "r" ["x", "y"] ins(%s : memref<4x4xf32>) outs(%r : memref<4x4xf32>)
before plan.phase backward | plan.call reshape "s" ["x", "y"] ins(%r : memref<4x4xf32>) outs(%s : memref<4x4xf32>)
after matmul "dw" | plan.call reshape "db" ["x", "y"] ins(%r : memref<4x4xf32>) outs(%db : memref<4xf32>) {seconds = 0.5 : f64}
error sync.problem | P23: expected 'w' to have factors of 128 B that are reconstructed in 2.0
note plan.program | the program
