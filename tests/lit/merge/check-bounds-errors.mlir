// Certificates that do not prove the claimed bound (passes/proof/README.md, "Rejections").
// RUN: syncline-opt --split-input-file --verify-diagnostics --check-solutions %patched

// Base: An array of times proves the bound.
sync.problem @p layers ["b", "a"] bytes [0, 0] ready <[0.1, 1.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.05 backward_end 1.0 updates 0.0
sync.solution of @p by "me" messages [
    #sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.0, end = 2.0>]
  finish 2.0 bound 2.0 certificate #sync.times<[0.0, 1.1, 2.0]>

// -----

// An array without an entry for each number of layers.
change #sync.times<[0.0, 1.1, 2.0]> => #sync.times<[0.0, 2.0]>
error sync.solution | M20: expected 3 entries

// -----

// An array that starts late.
change #sync.times<[0.0, 1.1, 2.0]> => #sync.times<[0.1, 1.1, 2.0]>
error sync.solution | M21: expected entry 0 to be 0 s

// -----

// An array with a negative time.
change #sync.times<[0.0, 1.1, 2.0]> => #sync.times<[0.0, -1.0, 2.0]>
error sync.solution | M22: entry 1: expected a finite time >= 0

// -----

// An array that claims more than is true: a plan ends at 2, so no entry may be later.
drop layers = [0, 1]
before finish | #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 0, ready = 0.1, start = 0.1, end = 1.1>,
before finish | #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 0, ready = 1.0, start = 1.1, end = 2.1>]
change finish 2.0 bound 2.0 certificate #sync.times<[0.0, 1.1, 2.0]> => finish 2.1 bound 2.1 certificate #sync.times<[0.0, 1.1, 2.1]>
error sync.solution | M23: entry 2: expected at most 2 s (a message of layers 1 to 2)

// -----

// A bound that is not the array's.
change bound 2.0 => bound 1.5
error sync.solution | claims the bound 1.500000e+00, the certificate proves 2.000000e+00

// -----

// Base: Relaxations prove the bound, where there is more to choose than where to cut.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
sync.solution of @p by "me" messages [
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0] finish 4.0 bound 1.0
  certificate #sync.relaxations<[]>

// -----

// An array for a problem that leaves more to choose than where to cut.
change bound 1.0 => bound 4.0
change #sync.relaxations<[]> => #sync.times<[0.0, 2.0, 3.0, 4.0]>
error sync.solution | J39: expected relaxations, since the problem is more than merging

// -----

// A line that is above a cost.
change #sync.relaxations<[]> => #sync.relaxations<[[1.0, 0.0, 1.5, 0.0, 2.0, 0.0]]>
error sync.solution | J31: relaxation 1: the line 1.5 s + 0 s/B is not under every cost of merge class 1

// -----

// A weight above 1.
change #sync.relaxations<[]> => #sync.relaxations<[[1.5, 0.0, 1.0, 0.0, 2.0, 0.0]]>
error sync.solution | J31: relaxation 1: expected a weight within [0, 1]

// -----

// A negative bound.
change bound 1.0 => bound -1.0
error sync.solution | J32: expected a finite bound >= 0

// -----

// A bound that a plan beats.
change bound 1.0 => bound 4.5
error sync.solution | J35: expected no plan to end before 4.5 s, got one that ends at 4 s
