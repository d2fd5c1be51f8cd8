// RUN: syncline-opt %s --split-input-file --verify-diagnostics

// Rules S2, S4 to S13 and S16 of ir/sync/SPEC.md: invalid problems, solutions and gathers.

// A layer without a size.
// expected-error@+1 {{S5: expected one size, one ready time and, where merge classes are restricted, one set}}
sync.problem @p layers ["b", "a"] bytes [10] ready <[1.0, 2.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A layer without a set of merge classes where others have one.
// expected-error@+1 {{S5: expected one size, one ready time and, where merge classes are restricted, one set}}
sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[1.0, 2.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] only [1]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// Negative sizes.
// expected-error@+1 {{S6: expected bytes that are not negative}}
sync.problem @p layers ["b"] bytes [-1] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// Ready times that fall.
// expected-error@+1 {{S6: expected finite ascending ready times, got 1.000000e+00 after 2.000000e+00}}
sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[2.0, 1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A backward pass that ends before its last gradient.
// expected-error@+1 {{S6: expected finite times that are not negative and a backward pass that ends with the last gradient}}
sync.problem @p layers ["b"] bytes [10] ready <[3.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A number in the place of a cost.
// expected-error@+1 {{S7: expected the cost of 'ring' to be #cluster.formula, #cluster.affine or #cluster.table}}
module attributes {sync.option = #sync.option<ring, cost = 1.0 : f64, traffic = 1.0>} {}

// -----

// Traffic that is negative.
// expected-error@+1 {{S7: expected the traffic of 'ring' finite and not negative}}
module attributes {sync.option = #sync.option<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = -1.0>} {}

// -----

// A merge class that offers a scheme twice.
// expected-error@+2 {{S8: expected one option a scheme}}
sync.problem @p layers [] bytes [] ready <[]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>, <ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A merge class of factors, which carry one gradient.
// expected-error@+2 {{S8: 'factors' carry one gradient: expected them among the factor options}}
sync.problem @p layers [] bytes [] ready <[]>
  merge_classes [#sync.merge_class<[<factors, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A merge class with a negative capacity.
// expected-error@+2 {{S8: expected limits that are not negative}}
sync.problem @p layers [] bytes [] ready <[]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>], capacity = -1>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A factor option that takes negative time.
// expected-error@+2 {{S9: expected a layer, bytes and finite times that are not negative}}
sync.problem @p layers ["b"] bytes [10] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = -0.5, reconstruct = 1.0, traffic = 5.0>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A problem without a merge class.
// expected-error@+1 {{S11: expected 1 to 3 merge classes, got 0}}
sync.problem @p layers [] bytes [] ready <[]> merge_classes [] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A merge class for a layer that the problem does not have.
// expected-error@+1 {{S11: expected sets of 1 merge classes}}
sync.problem @p layers ["b"] bytes [10] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>] only [2]
  forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A factor option of a layer that the problem does not have.
// expected-error@+1 {{S12: expected factor options of 1 layers, got 1}}
sync.problem @p layers ["b"] bytes [10] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A layer that goes by factors in two ways.
// expected-error@+1 {{S12: expected one factor option a layer and scheme}}
sync.problem @p layers ["b"] bytes [10] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>,
    #sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A piggyback without a carrier.
// expected-error@+1 {{S12: expected pairs}}
sync.problem @p layers ["b"] bytes [10] ready <[1.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A carrier that cannot travel alone.
// expected-error@+1 {{S12: expected one carrier a piggyback}}
sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[1.0, 2.0]> merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1] forward_end 0.5 backward_end 2.0 updates 0.0

// -----

// A message with a negative layer.
// expected-error@+1 {{S10: expected layers and a merge class that are not negative}}
sync.solution of @p by "me" messages [#sync.message<layers = [-1], scheme = ring, merge_class = 0, bytes = 1, ready = 0.0, start = 0.0, end = 0.0>]
  finish 0.0 bound 0.0

// -----

// A negative piggyback.
// expected-error@+1 {{S13: expected piggybacks that are not negative}}
sync.solution of @p by "me" messages [] piggybacks [-1] finish 0.0 bound 0.0

// -----

// A row with more merge classes than problems have.
// expected-error@+1 {{expected at most 3 merge classes}}
sync.solution of @p by "me" messages [] finish 0.0 bound 0.0 certificate #sync.states<relaxations = [], states = [[[0.0, 0.0, 0, 0, 1, 1, 1, 1]]]>

// -----

// Factors gathered along the wrong dimension.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{S4: expected results that hold as many ranks' factors}}
  %y = sync.all_gather %x {bucket = 0 : i64, channel = 0 : i64, members = ["w"], ready = 0.0 : f64, start = 0.0 : f64, end = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
}

// -----

// Factors of two and a half ranks.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{S4: expected results that hold as many ranks' factors}}
  %y = sync.all_gather %x {bucket = 0 : i64, channel = 0 : i64, members = ["w"], ready = 0.0 : f64, start = 0.0 : f64, end = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<5x3xf32>
}

// -----

// Factors of two ranks and of three.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{S4: expected results that hold as many ranks' factors}}
  %y:2 = sync.all_gather %x, %x {bucket = 0 : i64, channel = 0 : i64, members = ["w"], ready = 0.0 : f64, start = 0.0 : f64, end = 1.0 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<6x3xf32>)
}

// -----

// Factors for no gradient.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{S4: expected at least one factor, one result a factor and a member}}
  %y = sync.all_gather %x {bucket = 0 : i64, channel = 0 : i64, members = [], ready = 0.0 : f64, start = 0.0 : f64, end = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}

// -----

// A gather that ends before it starts.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{S2: expected 0 <= ready <= start <= end}}
  %y = sync.all_gather %x {bucket = 0 : i64, channel = 0 : i64, members = ["w"], ready = 0.0 : f64, start = 2.0 : f64, end = 1.0 : f64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}

// -----

// A prediction of one message that has no end.
// expected-error@+1 {{S16: expected as many times of each kind, got 1, 1, 0, 1 and 1}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// A message that ends before it starts.
// expected-error@+1 {{S16: expected 0 <= ready <= start <= end <= reconstructed of message 0, and all finite}}
sync.prediction of @p ready <[1.0]> start <[1.5]> end <[1.25]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// An exposed time that is not a number.
// expected-error@+1 {{S16: expected 0 <= ready <= start <= end <= reconstructed of message 0, and all finite}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0x7FF8000000000000]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// A backward pass that ends after the step.
// expected-error@+1 {{S16: expected finite times from 0 to the step's 2.000000e+00, got 3.000000e+00}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 3.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// Messages may end after the step, but not at no time.
// expected-error@+1 {{S16: expected finite ends of messages that are not negative, got -1.000000e+00}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end -1.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// A step that is not a number.
// expected-error@+1 {{S16: expected finite times from 0 to the step's}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 0x7FF8000000000000

// -----

// Updates that take negative time.
// expected-error@+1 {{S16: expected finite updates that are not negative}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates -1.0 step 2.0

// -----

// A backward pass that ends before the forward pass.
// expected-error@+1 {{S16: expected a backward pass that ends after the forward pass, got 1.000000e+00 and 1.500000e+00}}
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 1.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// A tail is missing.
// expected-error@+1 {{S5: expected one tail and one update of its own a layer}}
sync.problem @p layers ["b", "a"] bytes [256, 128] ready <[2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 1.0 backward_end 3.0 updates 0.0 tails <[0.5]> own_updates <[0.0, 0.0]>

// -----

// A tail that is negative.
// expected-error@+1 {{S6: expected finite tails and updates that are not negative, got -5.000000e-01}}
sync.problem @p layers ["b", "a"] bytes [256, 128] ready <[2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 1.0 backward_end 3.0 updates 0.0 tails <[-0.5, 1.0]> own_updates <[0.0, 0.0]>

// -----

// A gradient that is ready in the forward pass.
// expected-error@+1 {{S6: expected gradients that are ready after the forward pass, which ends at 2.500000e+00, got 2.000000e+00}}
sync.problem @p layers ["b", "a"] bytes [256, 128] ready <[2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 2.5 backward_end 3.0 updates 0.0 tails <[0.5, 1.0]> own_updates <[0.0, 0.0]>

// -----

// More channels than a plan may have.
sync.solution of @p by "manual" messages [
  // expected-error@+1 {{S10: expected a channel from 0 to 7, got 8}}
  #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 256, channel = 8, ready = 1.0, start = 1.0, end = 2.0>]
  finish 2.0 bound 0.0

// -----

// A cut of one number.
sync.solution of @p by "manual" messages [
  // expected-error@+1 {{S10: expected a cut of two numbers that are not negative}}
  #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 256, cut = [64], ready = 1.0, start = 1.0, end = 2.0>]
  finish 2.0 bound 0.0
