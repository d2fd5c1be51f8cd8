// RUN: syncline-opt %s --split-input-file --verify-diagnostics --check-solutions

// Certificates that do not prove the claimed bound (passes/proof/README.md, "Rejections").

// An array without an entry for each number of layers.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{M20: expected 3 entries}}
sync.solution of @p by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>] finish 2.0 bound 2.0 certificate #sync.times<[0.0, 2.0]>

// -----

// An array that starts late.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{M21: expected entry 0 to be 0 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>] finish 2.0 bound 2.0 certificate #sync.times<[0.1, 1.1, 2.0]>

// -----

// An array with a negative time.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{M22: entry 1: expected a finite time >= 0}}
sync.solution of @p by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>] finish 2.0 bound 2.0 certificate #sync.times<[0.0, -1.0, 2.0]>

// -----

// An array that claims more than is true: a plan ends at 2, so no entry may be later.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{M23: entry 2: expected at most 2 s (a message of layers 1 to 2)}}
sync.solution of @p by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 0, ready = 0.1, start = 0.1, end = 1.1>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.1, end = 2.1>]
  finish 2.1 bound 2.1 certificate #sync.times<[0.0, 1.1, 2.1]>

// -----

// A bound that is not the array's.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{claims the bound 1.500000e+00, the certificate proves 2.000000e+00}}
sync.solution of @p by "me" messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>] finish 2.0 bound 1.5 certificate #sync.times<[0.0, 1.1, 2.0]>

// -----

// An array for a problem that leaves more to choose than where to cut.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J39: expected relaxations and states, since the problem is more than merging}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 4.0 certificate #sync.times<[0.0, 2.0, 3.0, 4.0]>

// -----

// Lists of states for fewer layers than there are.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J30: expected no list of states or 4}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 1.0
  certificate #sync.states<relaxations = [], states = [[[1.0, 3.0, 0, 0]], []]>

// -----

// A line that is above a cost.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J31: relaxation 1: the line 1.5 s + 0 s/B is not under every cost of merge class 1}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 1.0
  certificate #sync.states<relaxations = [[1.0, 0.0, 1.5, 0.0, 2.0, 0.0]], states = [[], [], [], []]>

// -----

// A weight above 1.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J31: relaxation 1: expected a weight within [0, 1]}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 1.0
  certificate #sync.states<relaxations = [[1.5, 0.0, 1.0, 0.0, 2.0, 0.0]], states = [[], [], [], []]>

// -----

// A negative bound.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J32: expected a finite bound >= 0}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound -1.0
  certificate #sync.states<relaxations = [], states = [[], [], [], []]>

// -----

// A first state that is in no list and not too late for the bound.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J33: the state before layer 1 is not covered}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 4.0
  certificate #sync.states<relaxations = [], states = [[], [], [], []]>

// -----

// A step to a state that is in no list and not too late for the bound.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J34: layer 1: a step from state 1 leads to one that is not covered}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 4.0
  certificate #sync.states<relaxations = [], states = [[[1.0, 3.0, 0, 0]], [], [], []]>

// -----

// A state with a bucket of negative bytes.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J38: state 1 after layer 0: expected finite times >= 0 and bytes >= 0}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 4.0
  certificate #sync.states<relaxations = [], states = [[[1.0, 3.0, 0, 0, -2]], [], [], []]>

// -----

// A bound that a plan through the listed states beats.
sync.problem @p layers ["a"] bytes [0] ready <[1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
// expected-error@+1 {{J35: a plan through state 1 after layer 0 ends at 2 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>] finish 2.0 bound 3.0 certificate #sync.states<relaxations = [], states = [[[1.0, 1.0, 0, 0]], []]>
