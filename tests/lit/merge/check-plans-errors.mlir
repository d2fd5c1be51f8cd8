// RUN: syncline-opt %s --split-input-file --verify-diagnostics --check-solutions

// Wrong solutions, each rejected for its own numbered reason (passes/proof/README.md, "Rejections").

// A message without layers.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J1: message 1: has no layers}}
sync.solution of @p by "me" messages [#sync.message<layers = [], scheme = ring, merge_class = 0, bytes = 0, ready = 0.0, start = 0.0, end = 1.0>,
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A layer that is in no message and is no piggyback.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J2: layer 1 is in no message}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// A layer in two messages.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J3: message 3: layer 3 is in a message already}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 4.0, end = 5.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A piggyback with a message of its own.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J3: piggyback 1: layer 1 is in a message already}}
sync.solution of @p by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = 1.0, end = 2.0>,
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A layer that the problem does not have.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J4: message 2: expected layers up to 3}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [3], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A piggyback that the problem does not have.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J4: piggyback 1: expected layers up to 3}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [7] finish 4.0 bound 0.0

// -----

// A scheme that the merge class does not offer.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J5: message 2: expected a merge class and a scheme of the problem}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = tree, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A merge class that the problem does not have.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J5: message 2: expected a merge class and a scheme of the problem}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 2, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A layer that may not travel alone.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J5: message 2: layer 3 may not travel alone that way}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = factors, bytes = 30, ready = 3.0, start = 3.0, end = 3.5, reconstructed = 4.5>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// Two layers in a message that carries one.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J5: message 1: layer 1 may not travel alone that way}}
sync.solution of @p by "me" messages [#sync.message<layers = [0, 1], scheme = factors, bytes = 30, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// Bytes that are not the members' sum.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J6: message 2: expected 30 B}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 31, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A message that starts before the step does.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J7: message 1: expected a finite time >= 0}}
sync.solution of @p by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = -1.0, end = 2.0>,
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// A ready time that is not the last member's.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J8: message 2: expected ready at 3 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 2.5, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A message that starts before it is ready.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J9: message 2: starts at 2.75 s, but is ready at 3 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 2.75, end = 3.75>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A message that starts while the channel is busy.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J10: message 2: starts at 2 s, but the channel is busy until 2.5 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = 1.5, end = 2.5>,
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// A message that is faster than its scheme.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J11: message 2: expected its end at 4 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 3.5>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A finish before the last gradient exists.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J12: expected channel, device and plan to end at 4, 4 and 4 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 3.5 bound 0.0

// -----

// A piggyback whose carrier travels in a bucket.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J13: piggyback 1: layer 1 has no carrier that travels alone}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 20, ready = 2.0, start = 2.0, end = 3.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// A bucket that is larger than its merge class allows.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J14: message 1: expected at most 40 B}}
sync.solution of @p by "me" messages [#sync.message<layers = [1, 2], scheme = "parameter-server", merge_class = 1, bytes = 50, ready = 3.0, start = 3.0, end = 5.0>]
  piggybacks [0] finish 5.0 bound 0.0

// -----

// Buckets that are more than their merge class can hold.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J15: message 2: expected at most 45 B in merge class 2}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = "parameter-server", merge_class = 1, bytes = 20, ready = 2.0, start = 2.0, end = 4.0>,
    #sync.message<layers = [2], scheme = "parameter-server", merge_class = 1, bytes = 30, ready = 3.0, start = 4.0, end = 6.0>]
  piggybacks [0] finish 6.0 bound 0.0

// -----

// Messages that do not go in the order of their last members.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J16: message 2: its last layer, 2, comes before message 1's, 3}}
sync.solution of @p by "me" messages [#sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>,
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 4.0, end = 4.5, reconstructed = 5.5>]
  piggybacks [0] finish 5.5 bound 0.0

// -----

// Members that do not ascend.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J16: message 1: layer 1 stands after layer 2}}
sync.solution of @p by "me" messages [#sync.message<layers = [1, 0], scheme = ring, merge_class = 0, bytes = 30, ready = 2.0, start = 2.0, end = 3.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// A gradient that exists before the device, busy with the backward pass, can have reconstructed it.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J17: message 1: expected its gradients to exist at 4 s}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 3.5>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 0.0

// -----

// Two buckets of one merge class that are open at the same time.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{J18: message 2: layer 1 comes before layer 2 of the merge class's bucket before}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 20, ready = 2.0, start = 2.0, end = 3.0>,
    #sync.message<layers = [0, 2], scheme = ring, merge_class = 0, bytes = 40, ready = 3.0, start = 3.0, end = 4.0>]
  finish 4.0 bound 0.0

// -----

// A bound that nothing proves.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
// expected-error@+1 {{claims the bound 4.000000e+00 without a certificate}}
sync.solution of @p by "me" messages [#sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 4.0

// -----

// A solution of a problem that does not exist.
// expected-error@+1 {{expected a 'sync.problem' named 'none'}}
sync.solution of @none by "me" messages [] finish 0.0 bound 0.0
