// Rule S24 of ir/sync/SPEC.md: when memory-bound operations run.
// RUN: syncline-opt --split-input-file --verify-diagnostics %patched

// Base: A problem with two spans, of which the second ends with the backward pass.
sync.problem @p layers ["a"] bytes [10] ready <[2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 3.0 updates 0.0 memory_bound <[0.0, 1.0, 2.5, 3.0]>

// -----

// A span without an end.
change memory_bound <[0.0, 1.0, 2.5, 3.0]> => memory_bound <[0.0, 1.0, 2.5]>
error sync.problem | S24: expected a beginning and an end of each span, got 3 times

// -----

// A span that begins before the one before has ended.
change memory_bound <[0.0, 1.0, 2.5, 3.0]> => memory_bound <[0.0, 1.0, 0.5, 3.0]>
error sync.problem | S24: expected finite ascending times, got 5.000000e-01 after 1.000000e+00

// -----

// A span that begins before the step.
change memory_bound <[0.0, 1.0, 2.5, 3.0]> => memory_bound <[-1.0, 1.0, 2.5, 3.0]>
error sync.problem | S24: expected finite ascending times, got -1.000000e+00 after 0.000000e+00

// -----

// A span that ends behind the backward pass.
change memory_bound <[0.0, 1.0, 2.5, 3.0]> => memory_bound <[0.0, 1.0, 2.5, 4.0]>
error sync.problem | S24: expected times up to the end of the backward pass, 3.000000e+00, got 4.000000e+00
