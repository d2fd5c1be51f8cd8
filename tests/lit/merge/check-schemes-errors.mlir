// Problems that are not those of the cluster or the trace beside them: S14, S15.
// RUN: syncline-opt --check-solutions --split-input-file --verify-diagnostics %s

// A cheaper ring than the cluster has.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 1.0>, traffic = 2.0>], largest = 80>,
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

// Less traffic than a ring makes.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 1.0>], largest = 80>,
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

// A scheme for which the cluster states no cost.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<tree, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
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

// All schemes but one: what is left out could have been better.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <tree, #cluster.affine<a = 2.0, b = 0.5>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>, <"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80>,
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

// Servers' table at another point.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 1 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 60.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
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

// Servers that hold more than they can.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 1 has other limits than the cluster}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 200>]
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

// Messages larger than the cluster takes.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 has other limits than the cluster}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 800>,
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

// A gather that is faster than the cluster.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: expected 1.290000e+02 s and 1.280000e+02 B of traffic on the cluster}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 12.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A gather of nobody knows how many bytes.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: the cluster offers no #sync.factor_option}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A reduce-scatter that is faster than the cluster; updates make one slower.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 0.5>, traffic = 2.0>], largest = 80>,
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

// A gradient that is ready before the trace has it.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected gradient 0 to be the trace's 'b', 64 B ready at 3.000000e+00 s}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[2.5, 5.0]>
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

// A smaller gradient than the trace has.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected gradient 1 to be the trace's 'a', 64 B ready at 5.000000e+00 s}}
  sync.problem @merge layers ["b", "a"] bytes [64, 60] ready <[3.0, 5.0]>
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

// A shorter forward pass than the trace has.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected the trace's 2 gradients, and passes that end at 2.000000e+00 and 5.000000e+00 s}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>]
    forward_end 1.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Two problems, of which only one is planned.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.problem @other layers [] bytes [] ready <[]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  // expected-error @+1 {{expected one problem and one solution of a cluster}}
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}
