// Problems that are not those of the cluster or the trace beside them, or that restrict layers in
// ways that nobody requested: S14, S15.
// RUN: syncline-opt --check-solutions --split-input-file --verify-diagnostics %patched

// Base: All that the cluster offers.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>,
    <"parameter-server", #cluster.table<[0, 3.0], [64, 70.0]>>, <factors, #cluster.affine<a = 1.0, b = 2.0>>],
  servers = <count = 1, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, memory = 100>, largestMessage = 80>} {
  sync.problem @merge layers ["b", "a"] bytes [64, 64] ready <[3.0, 5.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>,
      #sync.merge_class<[<"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>], largest = 80, capacity = 100>]
    factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64>]
    forward_end 2.0 backward_end 5.0 updates 0.0
  sync.solution of @merge by "me" messages [
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 70.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 64, ready = 5.0, start = 70.0, end = 137.0>]
    finish 137.0 bound 0.0
  sync.trace @net {
    sync.layer "a" bytes 64 forward 1.0 backward 2.0 matmul [4, 4, 2]
    sync.layer "b" bytes 64 forward 1.0 backward 1.0
  }
}

// -----

// Classes of operations that the cluster does not tell apart.
change updates 0.0 => updates 0.0 memory_bound <[2.0, 3.0]>
error sync.problem | S14: expected no 'memory_bound', as messages slow all operations alike on the cluster

// -----

// A cheaper ring than the cluster has.
change merge_classes | a = 3.0 => a = 2.0
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// Less traffic than a ring makes.
change merge_classes | traffic = 2.0 => traffic = 1.0
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// A scheme for which the cluster states no cost.
change merge_classes | ring => tree
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// All schemes but one: what is left out could have been better.
change <"reduce-scatter" => <tree, #cluster.affine<a = 2.0, b = 0.5>>, <"reduce-scatter"
change merge_classes | traffic = 2.0> => traffic = 2.0>, <"parameter-server", cost = #cluster.table<[0, 3.0], [64, 70.0]>, traffic = 2.0>
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// A ring that takes from computation, on a cluster without interference.
change merge_classes | traffic = 2.0 => traffic = 2.0, lost = #cluster.affine<a = 1.0, b = 0.5>
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// Messages that take nothing, on a cluster with interference.
change device = <launchOverhead = 0.0>, link => device = <launchOverhead = 0.0>, interference = 2.0, link
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// Servers' table at another point.
change cost = #cluster.table<[0, 3.0], [64, 70.0]> => cost = #cluster.table<[0, 3.0], [64, 60.0]>
error sync.problem | S14: merge class 1 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// Servers that hold more than they can.
change capacity = 100 => capacity = 200
error sync.problem | S14: merge class 1 has other limits than the cluster

// -----

// Messages larger than the cluster takes.
change merge_classes | largest = 80 => largest = 800
error sync.problem | S14: merge class 0 has other limits than the cluster

// -----

// A gather that is faster than the cluster.
change seconds = 129.0 => seconds = 12.0
error sync.problem | S14: expected 1.290000e+02 s and 1.280000e+02 B of traffic on the cluster

// -----

// A gather that takes from computation, on a cluster without interference.
change traffic = 128.0, factorBytes = 64 => traffic = 128.0, factorBytes = 64, lost = 2.0
error sync.problem | S14: expected 1.290000e+02 s and 1.280000e+02 B of traffic on the cluster, got #sync.factor_option<layer = 1, scheme = factors, seconds = 129.0, reconstruct = 1.0, traffic = 128.0, factorBytes = 64, lost = 2.0>

// -----

// A gather of nobody knows how many bytes.
change traffic = 128.0, factorBytes = 64 => traffic = 128.0
error sync.problem | S14: the cluster offers no #sync.factor_option

// -----

// A reduce-scatter that is faster than the cluster; updates make one slower.
change merge_classes | ring => "reduce-scatter"
change merge_classes | a = 3.0 => a = 2.0
change merge_classes | b = 1.0 => b = 0.5
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// A gradient that is ready before the trace has it.
change ready <[3.0, 5.0]> => ready <[2.5, 5.0]>
error S15: expected gradient 0 to be the trace's 'b', 64 B ready at 3.000000e+00 s

// -----

// A smaller gradient than the trace has.
change bytes [64, 64] => bytes [64, 60]
error S15: expected gradient 1 to be the trace's 'a', 64 B ready at 5.000000e+00 s

// -----

// A shorter forward pass than the trace has.
change forward_end 2.0 => forward_end 1.0
error sync.problem | S15: expected the trace's 2 gradients, and passes that end at 2.000000e+00 and 5.000000e+00 s

// -----

// A tail that is shorter than the trace's forward pass behind the layer's beginning, with later layers' updates.
after updates 0.0 | tails <[1.0, 1.5]> own_updates <[0.0, 0.0]>
error sync.problem | S15: expected gradient 1 to have a tail of 2.000000e+00 s and an update of 0.000000e+00 s as the trace's 'a', got 1.500000e+00 and 0.000000e+00 s

// -----

// Two problems, of which only one is planned.
before sync.solution | sync.problem @other layers [] bytes [] ready <[]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>]
before sync.solution | forward_end 2.0 backward_end 5.0 updates 0.0
error sync.solution | expected one problem and one solution of a cluster

// -----

// A layer that may not take the servers, where nobody requested that.
after factor_options | only [1, 3]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// Another layer than the one that was requested.
before forward_end | only [1, 3]
before forward_end | requested ["a=ring"]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// More layers than the one that was requested.
drop factor_options
before forward_end | only [1, 1]
before forward_end | requested ["a=ring"]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// Another scheme than the one that was requested: the last counts.
before forward_end | only [1, 3]
before forward_end | requested ["b=ring", "b=tree"]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// A layer that should be restricted and is not.
after factor_options | requested ["b=ring"]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// A merge class that nobody may take.
after factor_options | only [0, 3]
error sync.problem | S14: layer 'b' may travel neither by all that the cluster offers nor by a scheme requested by name

// -----

// Nobody knows the scheme that was requested.
before forward_end | only [1, 3]
before forward_end | requested ["b=pigeon"]
error sync.problem | S14: unknown scheme 'pigeon' for 'b', expected one of 'ring', 'recursive-doubling',

// -----

// A layer that could travel alone, and may not.
drop factor_options
error sync.problem | S15: expected the ways to travel alone that the trace has, got 0 where it has 1

// -----

// Factors that are reconstructed faster than the trace's layer.
change reconstruct = 1.0 => reconstruct = 0.5
error sync.problem | S15: expected the ways to travel alone that the trace has

// -----

// Half a second per byte for updates that a trace does not have.
drop #sync.merge_class<[<"parameter-server"
drop factor_options
change merge_classes | ring, cost = #cluster.affine<a = 3.0, b = 1.0> => "reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.5>
change merge_classes | largest = 80>, => largest = 80>] requested ["*=reduce-scatter"]
change layers = [0] | ring => "reduce-scatter"
change end = 70.0 => end = 101.0
change scheme = ring => scheme = "reduce-scatter"
change start = 70.0 => start = 101.0
change end = 137.0 => end = 199.0
change finish 137.0 => finish 199.0
error sync.problem | S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic

// -----

// A pattern that means nobody.
after factor_options | requested ["zzz=ring"]
error sync.problem | S14: no layer matches 'zzz', which shall travel by 'ring'

// -----

// A merge class more than anybody may take.
change capacity = 100>] => capacity = 100>,
before factor_options | #sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.0>, traffic = 2.0>], largest = 80>]
after factor_options | only [3, 3]
error sync.problem | S15: expected merge classes #sync.merge_class<[<ring, cost = #cluster.affine<a = 3.0, b = 1.0>, traffic = 2.0>], largest = 80>, #sync.merge_class<

// -----

// Updates that take half a second per byte, where the device needs 10 s for 64 B and each of two ranks does half.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <compute = 64.0, memory = 32.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  collectives = [<ring, #cluster.affine<a = 3.0, b = 1.0>>, <"reduce-scatter", #cluster.affine<a = 2.0, b = 1.0>>]>} {
  // expected-error @below {{S14: merge class 0 is not what the cluster offers: expected all of its schemes or one, with its cost, interference and traffic}}
  sync.problem @merge layers ["w"] bytes [64] ready <[3.0]>
    merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 2.0, b = 1.5>, traffic = 2.0>]>] requested ["/fc/Gemm=reduce-scatter"]
    forward_end 2.0 backward_end 3.0 updates 0.0
  sync.solution of @merge by "me" messages [
    #sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 64, ready = 3.0, start = 3.0, end = 101.0>]
    finish 101.0 bound 0.0
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 64 : i64, state = 64 : i64, arena = 64 : i64} {
    %x = plan.tensor "x" in input at 0 reserve 64 : memref<4x4xf32>
    %w = plan.tensor "w" in parameters at 0 reserve 64 {bucket = 0 : i64} : memref<4x4xf32>
    %h = plan.tensor "h" in arena at 0 reserve 64 live [0, 0] : memref<4x4xf32>
    plan.call matmul "/fc/Gemm" ["a", "b", "y"] ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%h : memref<4x4xf32>)
  }
}
