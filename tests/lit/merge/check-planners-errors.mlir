// S17: plans under the name of a planner that does not give them.
// RUN: syncline-opt --split-input-file --verify-diagnostics --check-solutions %patched

// Base: Every layer alone, as planner 'wfbp' sends it.
sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[1.0, 2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 2.0 updates 0.0
sync.solution of @p by "wfbp" messages [
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = 1.0, end = 3.0>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 20, ready = 2.0, start = 3.0, end = 5.0>]
  finish 5.0 bound 0.0

// -----

// Every layer alone, under the name of a planner that sends all in one message.
change "wfbp" => "single"
error S17: is not what planner 'single' gives

// -----

// What ends later than one message, and calls itself optimal without a proof.
change "wfbp" => "optimal"
error S17: planner 'optimal' finishes at 5.000000e+00 s, but a plan by a rule finishes at 4.000000e+00 s

// -----

// More messages than the planner's name allows.
change "wfbp" => "z3:messages=1"
error S17: has 2 messages, which planner 'z3:messages=1' does not allow

// -----

// What ends later than a rule's plan of one message.
change "wfbp" => "z3:messages=2"
error S17: planner 'z3:messages=2' finishes at 5.000000e+00 s, but a plan by a rule finishes at 4.000000e+00 s

// -----

// S17f: what ends later than one message, under the name of a planner that only sums.
change "wfbp" => "sums"
error S17: planner 'sums' finishes at 5.000000e+00 s, but a plan by a rule finishes at 4.000000e+00 s

// -----

// Base: All layers in one message.
change "wfbp" => "single"
drop layers = [0]
drop layers = [1]
before finish | #sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 30, ready = 2.0, start = 2.0, end = 4.0>]
change finish 5.0 => finish 4.0

// -----

// A planner with a size, which would cut.
change bytes [10, 20] => bytes [1048576, 20]
change bytes = 30 => bytes = 1048596
change "single" => "ddp:1MiB"
error S17: is not what planner 'ddp:1MiB' gives

// -----

// A planner that has no answer: there are no servers.
change "single" => "ps"
error S17: is not what planner 'ps' gives

// -----

// Valid: One message where two would end earlier: at 3.2 by a rule, which one message may not be.
change "single" => "z3:messages=1"
change ready <[1.0, 2.0]> => ready <[1.0, 3.0]>
change a = 2.0, b = 0.0 => a = 0.0, b = 0.01
change backward_end 2.0 => backward_end 3.0
change ready = 2.0, start = 2.0, end = 4.0 => ready = 3.0, start = 3.0, end = 3.3
change finish 4.0 => finish 3.3

// -----

// S17f: what gathers although it could be summed, under the name of a planner that never does.
sync.problem @p layers ["b"] bytes [20] ready <[2.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 0.0, traffic = 8.0>]
  forward_end 0.5 backward_end 2.0 updates 0.0
// expected-error@+1 {{S17: gathers what could be summed, which planner 'sums' never does}}
sync.solution of @p by "sums" messages [#sync.message<layers = [0], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 3.0>]
  finish 3.0 bound 0.0
