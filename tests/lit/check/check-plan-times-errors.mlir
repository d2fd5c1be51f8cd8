// Problems whose times are not those of the operations of the program beside them: P20.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %s

// A forward pass that is too short.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: the forward pass ends at 5.000000e-01 s, but by the program's operations not before 1.000000e+00 s}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 0.5 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 5.0
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

// A backward pass that is too long.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: the backward pass ends at 3.500000e+00 s, but by the program's operations not after 3.000000e+00 s}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.5 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 5.0
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

// A gradient that is ready before it is computed.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: gradient 'w' is ready at 2.000000e+00 s, but by the program's operations not before 3.000000e+00 s}}
  sync.problem @merge layers ["w"] bytes [64] ready <[2.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 2.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 2.0 start 3.0 end 5.0
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

// Factors that are ready before the forward pass has made them.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: gradient 'w' is ready at 5.000000e-01 s, but by the program's operations not before 1.000000e+00 s}}
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[0.5, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 2.0, traffic = 256.0, factorBytes = 128>]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 0.5, start = 3.0, end = 4.0, reconstructed = 7.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64 ready 0.5 start 3.0 end 4.0
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64 ready 5.0 start 5.0 end 7.0
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

// Products of gathered factors take one share of their time in the backward pass of the problem, and no more.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: the backward pass ends at 5.500000e+00 s, but by the program's operations not after 5.000000e+00 s}}
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 2.0, traffic = 256.0, factorBytes = 128>]
    forward_end 1.0 backward_end 5.5 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 3.0, start = 3.0, end = 4.0, reconstructed = 7.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 4.0
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64 ready 5.0 start 5.0 end 7.0
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

// Updates that take less than the program's.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: the updates take 2.500000e-01 s, but by the program's operations 5.000000e-01 s}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.25
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 5.0
    plan.phase forward
    plan.call matmul "h" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>) {seconds = 1.0 : f64}
    plan.phase backward
    plan.call matmul "dw" ["a", "b", "y"] ins(%h, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%dw : memref<4x4xf32>) {seconds = 2.0 : f64, transpose_a}
    plan.issue 0
    plan.phase update
    plan.wait 0
    plan.update 0 {seconds = 0.5 : f64}
  }
}

// -----

// Updates that nothing in the program does.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: the updates take 2.500000e-01 s, but by the program's operations 0.000000e+00 s}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>] forward_end 1.0 backward_end 3.0 updates 0.25
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 5.0>]
    finish 5.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 1] : memref<4x4xf32>
    plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 5.0
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

// Reconstruction that takes less than the product of what was gathered.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: gradient 'w' is reconstructed in 1.800000e+00 s, but by the program's operations in 2.000000e+00 s}}
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 1.8, traffic = 256.0, factorBytes = 128>]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 3.0, start = 3.0, end = 4.0, reconstructed = 6.8>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 4.0
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64 ready 5.0 start 5.0 end 7.0
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

// Reconstruction that takes more.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>} {
  // expected-error @+1 {{P20: gradient 'w' is reconstructed in 2.200000e+00 s, but by the program's operations in 2.000000e+00 s}}
  sync.problem @merge layers ["w", "v"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 2.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 2.2, traffic = 256.0, factorBytes = 128>]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 3.0, start = 3.0, end = 4.0, reconstructed = 7.2>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 5.0, end = 7.0>] finish 7.0 bound 0.0
  // expected-note @+1 {{the program}}
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 128 : i64, gradients = 128 : i64, state = 64 : i64, arena = 384 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %dw = plan.tensor "w" in gradients at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %v = plan.tensor "v" in parameters at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %dv = plan.tensor "v" in gradients at 64 reserve 64 {bucket = 1 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 4] : memref<4x4xf32>
    %xs = plan.tensor "x.gathered" in arena at 128 reserve 128 live [1, 5] : memref<8x4xf32>
    %hs = plan.tensor "h.gathered" in arena at 256 reserve 128 live [1, 5] : memref<8x4xf32>
    plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 64 bytes 64 ready 3.0 start 3.0 end 4.0
    plan.bucket 1 members ["v"] by ring channel 0 at 64 extent 64 bytes 64 ready 5.0 start 5.0 end 7.0
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
