// Programs that do not carry out the solution beside them, and problems whose times are not those of
// the operations of the program beside them: P19, P20.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: A program, the problem that it poses, and a solution that it carries out.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>, <factors, #cluster.affine<a = 1.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] requested ["w=ring"] forward_end 1.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  sync.prediction of @merge ready <[3.0]> start <[3.0]> end <[5.0]> reconstructed <[5.0]> exposed <[2.0]>
    forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 5.0 updates 0.0 step 5.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.issue 0
    plan.phase update
    plan.wait 0
    plan.update 0
  }
}

// -----

// Another scheme than the solution says.
change plan.bucket 0 | ring => tree
error P19: expected scheme 'ring', got 'tree'
note sync.solution | as the solution says

// -----

// A channel that is not the message's, so that messages would not wait for each other.
change plan.bucket 0 | channel 0 => channel 1
error P19: expected channel 0, got 1
note sync.solution | as the solution says

// -----

// A bucket without a message.
change messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>] => messages []
note the solution
error plan.program | P19: expected a bucket for each of the solution's 0 messages, got 1

// -----

// Members that the solution sends otherwise.
change layers ["w"] => layers ["v"]
error plan.bucket 0 | P19: expected members 'v'
note sync.solution | as the solution says

// -----

// A gradient of another size than the one that was priced.
change bytes [64] => bytes [60]
note the problem
error "w" in gradients | P19: has 64 B, where the problem has 60

// -----

// A layer that the problem does not have.
change layers = [0] => layers = [1]
error layer 1 is none of the problem's 1

// -----

// Other ranks than the cluster's.
change ranks = 2 => ranks = 3
error plan.program | P19: expected the cluster's 3 ranks, got 2

// -----

// Servers that no message goes through.
change arena = 64 : i64} => arena = 64 : i64} attributes {servers = 2 : i64}
error P19: expected 0 servers, got 2

// -----

// Two solutions, of which only one could be carried out.
before plan.program | sync.solution of @merge by "you" messages [] finish 0.0 bound 0.0
error plan.program | P19: expected one problem and one solution beside it

// -----

// A solution of another problem.
change sync.solution of @merge => sync.solution of @other
error P19: expected a solution of 'merge', got one of 'other'

// -----

// A forward pass that is too short.
change requested ["w=ring"] forward_end 1.0 => requested ["w=ring"] forward_end 0.5
error sync.problem | P20: the forward pass ends at 5.000000e-01 s, but by the program's operations not before 1.000000e+00 s
note plan.program | the program

// -----

// Memory-bound operations in a program of products.
change backward_end 3.0 updates 0.0 => backward_end 3.0 updates 0.0 memory_bound <[1.0, 2.0]>
error sync.problem | P20: expected the program's 0 spans of memory-bound operations, got 1, or at other times
note plan.program | the program

// -----

// A backward pass that is too long.
change backward_end 3.0 updates => backward_end 3.5 updates
error sync.problem | P20: the backward pass ends at 3.500000e+00 s, but by the program's operations not after 3.000000e+00 s
note plan.program | the program

// -----

// A gradient that is ready before it is computed.
change ready = 3.0 => ready = 2.0
change sync.problem | ready <[3.0]> => ready <[2.0]>
error P20: gradient 'w' is ready at 2.000000e+00 s, but by the program's operations not before 3.000000e+00 s
note plan.program | the program

// -----

// Updates that take less than the program's.
change backward_end 3.0 updates 0.0 => backward_end 3.0 updates 0.25
change plan.update 0 => plan.update 0 {seconds = 0.5 : f64}
error sync.problem | P20: the updates take 2.500000e-01 s, but by the program's operations 5.000000e-01 s
note plan.program | the program

// -----

// Updates that nothing in the program does.
change backward_end 3.0 updates 0.0 => backward_end 3.0 updates 0.25
error sync.problem | P20: the updates take 2.500000e-01 s, but by the program's operations 0.000000e+00 s
note plan.program | the program

// -----

// Base: One bucket by factors, and one by a ring.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 2.0, b = 0.0>>, <factors, #cluster.affine<a = 1.0, b = 0.0>>]>} {
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 2.0, traffic = 256.0, factorBytes = 128>] requested ["v=ring"]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 3.0, start = 3.0, end = 4.0, reconstructed = 7.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  sync.prediction of @merge ready <[1.0, 3.0]> start <[2.0, 3.0]> end <[3.0, 5.0]> reconstructed <[7.0, 5.0]> exposed <[0.0, 0.0]>
    forward_end 1.0 backward_end 3.0 communication_end 5.0 reconstruction_end 7.0 updates 0.0 step 7.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.gather 0 ins(%x, %h : memref<4x4xf32>, memref<4x4xf32>) outs(%xs, %hs : memref<8x4xf32>, memref<8x4xf32>)
    plan.call matmul "dv" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dv : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.issue 1
    plan.phase update
    plan.wait 0
    plan.call matmul "dw" ["a", "b", "y"] ins(%hs, %xs : memref<8x4xf32>, memref<8x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 4.0 : f64, transpose_a}
    plan.update 0
    plan.wait 1
    plan.update 1
  }
}

// -----

// Factors of another size than those that were priced.
change factorBytes = 128 => factorBytes = 64
error plan.gather 0 | P19: gathers 128 B of each rank, where the problem has 64
note sync.problem | the problem

// -----

// Factors that are ready before the forward pass has made them.
change ready = 3.0 => ready = 0.5
change ready <[3.0, 5.0]> => ready <[0.5, 5.0]>
error P20: gradient 'w' is ready at 5.000000e-01 s, but by the program's operations not before 1.000000e+00 s
note plan.program | the program

// -----

// Products of gathered factors take one share of their time in the backward pass of the problem, and no more.
change backward_end 5.0 updates => backward_end 5.5 updates
error sync.problem | P20: the backward pass ends at 5.500000e+00 s, but by the program's operations not after 5.000000e+00 s
note plan.program | the program

// -----

// Reconstruction that takes less than the product of what was gathered.
change reconstruct = 2.0 => reconstruct = 1.8
change reconstructed = 7.0 => reconstructed = 6.8
error sync.problem | P20: gradient 'w' is reconstructed in 1.800000e+00 s, but by the program's operations in 2.000000e+00 s
note plan.program | the program

// -----

// Reconstruction that takes more.
change reconstruct = 2.0 => reconstruct = 2.2
change reconstructed = 7.0 => reconstructed = 7.2
error sync.problem | P20: gradient 'w' is reconstructed in 2.200000e+00 s, but by the program's operations in 2.000000e+00 s
note plan.program | the program
