// Rules S1 to S13 and S16 of ir/sync/SPEC.md: invalid problems, solutions, messages and
// layers. Attributes that nothing has.
// RUN: syncline-opt --split-input-file --verify-diagnostics %patched

// Base: A problem of two layers.
sync.problem @p layers ["b", "a"] bytes [10, 20] ready <[2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>]
  factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>]
  forward_end 0.5 backward_end 3.0 updates 0.0

// -----

// S5: a layer without a size.
change bytes [10, 20] => bytes [10]
error S5: expected one size, one ready time and, where merge classes are restricted, one set

// -----

// S5: a layer without a set of merge classes where others have one.
before forward_end | only [1]
error sync.problem | S5: expected one size, one ready time and, where merge classes are restricted, one set

// -----

// S6: negative sizes.
change bytes [10, 20] => bytes [10, -1]
error S6: expected bytes that are not negative

// -----

// S6: ready times that fall.
change ready <[2.0, 3.0]> => ready <[2.0, 1.0]>
error S6: expected finite ascending ready times, got 1.000000e+00 after 2.000000e+00

// -----

// S6: a backward pass that ends before its last gradient.
change ready <[2.0, 3.0]> => ready <[2.0, 4.0]>
error S6: expected finite times that are not negative and a backward pass that ends with the last gradient

// -----

// S8: a merge class that offers a scheme twice.
change merge_classes | traffic = 1.0> => traffic = 1.0>, <ring, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>
error S8: expected one option a scheme

// -----

// S8: a merge class of factors, which carry one gradient.
change merge_classes | ring => factors
error S8: 'factors' carry one gradient: expected them among the factor options

// -----

// S8: a merge class with a negative capacity.
change merge_classes | traffic = 1.0>] => traffic = 1.0>], capacity = -1
error S8: expected limits that are not negative

// -----

// S9: a factor option that takes negative time.
change seconds = 0.5 => seconds = -0.5
error S9: expected a layer, bytes and finite times that are not negative

// -----

// S11: a problem without a merge class.
drop merge_classes | #sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>
error sync.problem | S11: expected 1 to 3 merge classes, got 0

// -----

// S11: a merge class that the problem does not have.
before forward_end | only [1, 2]
error sync.problem | S11: expected sets of 1 merge classes

// -----

// S12: a factor option of a layer that the problem does not have.
change layer = 0 => layer = 2
error sync.problem | S12: expected factor options of 2 layers, got 2

// -----

// S12: a layer that goes by factors in two ways.
change factor_options | traffic = 5.0> => traffic = 5.0>, #sync.factor_option<layer = 0, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>
error sync.problem | S12: expected one factor option a layer and scheme

// -----

// S12: a piggyback without a carrier.
before forward_end | piggybacks [0]
error sync.problem | S12: expected pairs

// -----

// S12: a carrier that cannot travel alone.
before forward_end | piggybacks [0, 1]
error sync.problem | S12: expected one carrier a piggyback

// -----

// S7: a number in the place of a cost.
// expected-error@+1 {{S7: expected the cost of 'ring' to be #cluster.formula, #cluster.affine or #cluster.table}}
module attributes {sync.option = #sync.option<ring, cost = 1.0 : f64, traffic = 1.0>} {}

// -----

// S7: a number in the place of what messages take from computation.
// expected-error@+1 {{S7: expected what 'ring' takes from computation to be #cluster.formula, #cluster.affine or #cluster.table}}
module attributes {sync.option = #sync.option<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0, lost = 1.0 : f64>} {}

// -----

// S7: traffic that is negative.
// expected-error@+1 {{S7: expected the traffic of 'ring' finite and not negative}}
module attributes {sync.option = #sync.option<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = -1.0>} {}

// -----

// Base: Messages hide behind the next step, too.
drop factor_options
change updates 0.0 => updates 0.0 tails <[0.5, 1.0]> own_updates <[0.0, 0.0]>

// -----

// S5: a tail is missing.
change tails <[0.5, 1.0]> => tails <[0.5]>
error sync.problem | S5: expected one tail and one update of its own a layer

// -----

// S6: a tail that is negative.
change tails <[0.5, 1.0]> => tails <[-0.5, 1.0]>
error sync.problem | S6: expected finite tails and updates that are not negative, got -5.000000e-01

// -----

// S6: a gradient that is ready in the forward pass.
change forward_end 0.5 => forward_end 2.5
error sync.problem | S6: expected gradients that are ready after the forward pass, which ends at 2.500000e+00, got 2.000000e+00

// -----

// Base: A solution.
sync.solution of @p by "me" messages [
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 256, cut = [64, 0], channel = 7, ready = 1.0, start = 1.0, end = 2.0>]
  piggybacks [1]
  finish 2.0 bound 0.0

// -----

// S10: a message with a negative layer.
change layers = [0] => layers = [-1]
error S10: expected layers and a merge class that are not negative

// -----

// S10: more channels than a plan may have.
change channel = 7 => channel = 8
error S10: expected a channel from 0 to 7, got 8

// -----

// S10: a cut of one number.
change cut = [64, 0] => cut = [64]
error S10: expected a cut of two numbers that are not negative

// -----

// S13: a negative piggyback.
change piggybacks [1] => piggybacks [-1]
error sync.solution | S13: expected piggybacks that are not negative

// -----

// A row with more merge classes than problems have.
change bound 0.0 => bound 0.0 certificate #sync.relaxations<[[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]>
error expected at most 3 merge classes
error failed to parse Sync_RelaxationsAttr parameter

// -----

// Base: Factors of two ranks.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %y = sync.all_gather %x {bucket = 0 : i64, channel = 0 : i64, members = ["w"]} : (tensor<2x3xf32>) -> tensor<4x3xf32>
}

// -----

// S4: factors gathered along the wrong dimension.
change tensor<4x3xf32> => tensor<2x6xf32>
error S4: expected results that hold as many ranks' factors

// -----

// S4: factors of two and a half ranks.
change tensor<4x3xf32> => tensor<5x3xf32>
error S4: expected results that hold as many ranks' factors

// -----

// S4: factors of two ranks and of three.
change %y = sync.all_gather %x => %y:2 = sync.all_gather %x, %x
change (tensor<2x3xf32>) -> tensor<4x3xf32> => (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<6x3xf32>)
error S4: expected results that hold as many ranks' factors

// -----

// S4: factors for no gradient.
change members = ["w"] => members = []
error S4: expected at least one factor, one result a factor and a member

// -----

// Base: A prediction of one message.
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// S16: a message that has no end.
change end <[2.0]> => end <[]>
error S16: expected as many times of each kind, got 1, 1, 0, 1 and 1

// -----

// S16: a message that ends before it starts.
change start <[1.0]> end <[2.0]> => start <[1.5]> end <[1.25]>
error S16: expected 0 <= ready <= start <= end <= reconstructed of message 0, and all finite

// -----

// S16: an exposed time that is not a number.
change exposed <[0.0]> => exposed <[0x7FF8000000000000]>
error S16: expected 0 <= ready <= start <= end <= reconstructed of message 0, and all finite

// -----

// S16: a backward pass that ends after the step.
change backward_end 1.0 => backward_end 3.0
error sync.prediction | S16: expected finite times from 0 to the step's 2.000000e+00, got 3.000000e+00

// -----

// S16: messages may end after the step, but not at no time.
change communication_end 2.0 => communication_end -1.0
error sync.prediction | S16: expected finite ends of messages that are not negative, got -1.000000e+00

// -----

// S16: a step that is not a number.
change step 2.0 => step 0x7FF8000000000000
error sync.prediction | S16: expected finite times from 0 to the step's

// -----

// S16: updates that take negative time.
change updates 0.0 => updates -1.0
error sync.prediction | S16: expected finite updates that are not negative

// -----

// S16: a backward pass that ends before the forward pass.
change forward_end 0.5 => forward_end 1.5
error sync.prediction | S16: expected a backward pass that ends after the forward pass, got 1.000000e+00 and 1.500000e+00

// -----

// Base: A message of two gradients, and a layer of a trace.
nn.step @step batch 1 {
  %a = nn.input "a" : tensor<2xf32>
  %b = nn.input "b" : tensor<3xf32>
  %c, %d = sync.all_reduce %a, %b {members = ["a", "b"], bucket = 0 : i64, channel = 0 : i64, scheme = #cluster<scheme ring>} : (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
}
sync.trace @net {
  sync.layer "fc" bytes 64 forward 1.0 backward 2.0 matmul [4, 2, 2] {update = 0.5 : f64}
  sync.layer "rows" bytes 32 forward 0.5 backward 0.5 {gathered = #sync.gathered<sparse, bytes = 8>, reconstruct = 0.25 : f64}
  sync.layer "bias" bytes 4 forward 0.0 backward 0.0 {carrier = "rows"}
}

// -----

// S1a: a message without members.
change %c, %d = sync.all_reduce %a, %b => sync.all_reduce
change members = ["a", "b"] => members = []
change (tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) => () -> ()
error sync.all_reduce | S1: expected at least one gradient and results of the operands' types

// -----

// S1b: a gradient without a name.
change members = ["a", "b"] => members = ["a"]
error S1: expected one member name a gradient, got 1 for 2

// -----

// S1c: a sum of another type than its gradient.
change -> (tensor<2xf32>, tensor<3xf32>) => -> (tensor<2xf32>, tensor<4xf32>)
error S1: expected at least one gradient and results of the operands' types

// -----

// S3a: a layer of negative bytes.
change bytes 64 => bytes -64
error S3: expected bytes and finite times that are not negative

// -----

// S3a: a backward pass that is no time.
change backward 2.0 => backward 0x7FF8000000000000
error S3: expected bytes and finite times that are not negative

// -----

// S3b: an update that takes negative time.
change update = 0.5 : f64 => update = -0.5 : f64
error S3: expected 'update' to be a finite time that is not negative

// -----

// S3b: an update that is no time.
change update = 0.5 : f64 => update = 1 : i64
error attribute 'update' failed to satisfy constraint: 64-bit float attribute

// -----

// S3c: a product without a dimension.
change matmul [4, 2, 2] => matmul [4, 2]
error S3: expected three dimensions [M, N, K] of at least 1

// -----

// S3c: a product of nothing.
change matmul [4, 2, 2] => matmul [4, 0, 2]
error S3: expected three dimensions [M, N, K] of at least 1

// -----

// S3d: a scheme that gathers nothing.
change <sparse => <ring
error S3: expected 'gathered' to have a scheme, factors or sparse, and bytes

// -----

// S3d: nothing that is gathered.
change bytes = 8 => bytes = 0
error S3: expected 'gathered' to have a scheme, factors or sparse, and bytes

// -----

// S3d: a product that takes negative time.
change reconstruct = 0.25 => reconstruct = -0.25
error S3: expected 'reconstruct' to be a finite time that is not negative

// -----

// S3e: a carrier without a name.
change carrier = "rows" => carrier = 1 : i64
error attribute 'carrier' failed to satisfy constraint: string attribute

// -----

// S3f: a reader that is no layer.
change carrier = "rows" => carrier = "rows", reader = "embedding"
error S3: expected 'reader' to name a layer of the trace, got 'embedding'

// -----

// An attribute that a layer had, and now writes without the dialect's name.
change reconstruct = 0.25 => sync.reconstruct = 0.25
error unknown attribute 'sync.reconstruct'

// -----

// A misspelled attribute.
change reconstruct = 0.25 => reconstuct = 0.25
error has no attribute 'reconstuct'

// -----

// An attribute of a dialect that there is not.
change reconstruct = 0.25 => synk.reconstruct = 0.25
error has no attribute 'synk.reconstruct'

// -----

// An attribute of no module.
// expected-error @+1 {{unknown attribute 'sync.overhead'}}
module attributes {sync.overhead = 1.0} {
}
