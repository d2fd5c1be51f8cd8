// Problems that restrict layers in ways that nobody requested: S14, S15.
// RUN: syncline-opt --check-solutions --split-input-file --verify-diagnostics %s

// A layer that may not take the servers, where nobody requested that.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [1, 3]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Another layer than the one that was requested.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [1, 3] requested ["a=ring"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// More layers than the one that was requested.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    only [1, 1] requested ["a=ring"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Another scheme than the one that was requested: the last counts.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [1, 3] requested ["b=ring", "b=tree"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A layer that should be restricted and is not.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] requested ["b=ring"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A merge class that nobody may take.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [0, 3]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Nobody knows the scheme that was requested.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: unknown scheme 'pigeon' for 'b', expected one of 'ring', }}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [1, 3] requested ["b=pigeon"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A layer that could travel alone, and may not.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected the ways to travel alone that the trace has, got 0 where it has 1}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Factors that are reconstructed faster than the trace's layer.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected the ways to travel alone that the trace has}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 0.5, traffic = 128.0, factorBytes = 64>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Half a second per byte for updates that a trace does not have.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.5>, traffic = 2.0>], largest = 80>] requested ["*=reduce-scatter"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 101.0>,
    #sync.message<layers = [1], scheme = "reduce-scatter", merge_class = 0, bytes = 64, ready = 5.0, start = 101.0, end = 199.0>] finish 199.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A pattern that means nobody.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S14: no layer matches 'zzz', which shall travel by 'ring'}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] requested ["zzz=ring"]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// A merge class more than anybody may take.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  // expected-error @+1 {{S15: expected merge classes #sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>, #sync.merge_class<}}
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>,
      #sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.0>, traffic = 2.0>], largest = 80>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>] only [3, 3]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>] finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Updates that take half a second per byte, where the device needs 10 s for 64 B and each of two ranks does half.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <compute = 64.0, memory = 32.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>]>} {
  // expected-error @+1 {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost and traffic}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.5>, traffic = 2.0>]>] requested ["/fc/Gemm=reduce-scatter"]
    forward_end 2.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [#sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 101.0>] finish 101.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 0] : memref<4x4xf32>
    plan.call matmul "/fc/Gemm" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  }
}
