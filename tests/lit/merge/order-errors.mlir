// Orders that are wrong, one for each reason that order.mlir does not need.
// RUN: syncline-opt --check-solutions --split-input-file --verify-diagnostics %patched

// Base: A good one: "a" overtakes the rest of "b".
#certificate = #sync.order<ready = 1.0, tail = 0.5, lines = [0.25, 0.0078125]>
sync.problem @p layers ["b", "a"] bytes [256, 128] ready <[2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 1.0 backward_end 3.0 updates 0.0 tails <[0.5, 1.0]> own_updates <[0.0, 0.0]>
sync.solution of @p by "manual"
  messages [
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 128, cut = [0, 128], ready = 1.0, start = 1.0, end = 2.25>,
    #sync.message<layers = [1], scheme = ring, merge_class = 0, bytes = 128, ready = 2.0, start = 2.25, end = 3.5>,
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 128, cut = [128, 0], ready = 1.0, start = 3.5, end = 4.75>]
  finish 5.25 bound 5.0 certificate #certificate

// -----

// O8: all bytes travel.
drop cut = [128, 0]
change end = 3.5>, => end = 3.5>]
error sync.solution | O8: merge class 1: byte 256, which belongs to layer 1, does not travel

// -----

// O7: they travel once.
change bytes = 128, cut = [128, 0] => bytes = 256
change end = 4.75 => end = 5.75
change finish 5.25 => finish 6.25
error sync.solution | O7: merge class 1: byte 128 travels twice

// -----

// O6: parts are cut at whole cache lines.
change bytes = 128, cut = [0, 128] => bytes = 100, cut = [0, 156]
change end = 2.25 => end = 2.03125
change bytes = 128, cut = [128, 0] => bytes = 156, cut = [100, 0]
change end = 4.75 => end = 4.96875
error sync.solution | O6: message 1: cuts layer 1 at byte 100, not a multiple of 64

// -----

// O9: a message starts when its members are ready.
change start = 2.25, end = 3.5 => start = 1.5, end = 2.75
error sync.solution | O9: message 2: starts at 1.5 s, before layer 2 is ready at 2 s

// -----

// O12: a step takes as long as its messages need.
change finish 5.25 => finish 5.0
error sync.solution | O12: expected a period of 5.25 s, got 5 s

// -----

// O13: a message says where its first and last member are cut.
change bytes = 128, cut = [0, 128] => bytes = 128
error sync.solution | O13: message 1: lists 1 layers with 128 B, less 0 B before and 0 B behind, but its bytes belong to 1 layers, less 0 B and 128 B

// -----

// O13: it lists the layers that its bytes belong to.
drop cut = [128, 0]
change cut = [0, 128] | layers = [0] => layers = [1, 0]
change ready = 1.0, start = 1.0, end = 2.25 => ready = 2.0, start = 2.0, end = 3.25
change layers = [1], scheme = ring, merge_class = 0, bytes = 128 => layers = [0], scheme = ring, merge_class = 0, bytes = 256
change ready = 2.0, start = 2.25, end = 3.5>, => ready = 1.0, start = 3.25, end = 5.5>]
change finish 5.25 => finish 6.0
error sync.solution | O13: message 1: lists 2 layers

// -----

// S18: an order has another certificate than a plan whose messages hide behind one step.
change certificate #certificate => certificate #sync.times<[0.0]>
error sync.solution | S18: expected a certificate '#sync.order', as the problem has 'tails'

// -----

// S18: it has one.
drop finish | certificate #certificate
error sync.solution | S18: expected a certificate '#sync.order', as the problem has 'tails'

// -----

// O20: a line of the certificate lies under every cost.
change lines = [0.25, 0.0078125] => lines = [0.5, 0.0078125]
error sync.solution | O20: the line 0.5 s + 0.0078125 s/B is not under every cost of merge class 1

// -----

// O21: the bound is the one that the certificate proves.
change bound 5.0 => bound 5.125
error sync.solution | O21: the certificate proves 5 s, not 5.125 s

// -----

// A tail that reaches over the one before it.
change own_updates <[0.0, 0.0]> => own_updates <[0.75, 0.0]>
error sync.solution | layer 1 in backward order: expected an update from 0 s to the 0.500000 s before its tail, got 0.750000 s

// -----

// Valid: The mean of 5 s and of the 3 s of computation is a bound too.
change #sync.order<ready => #sync.order<channel_weight = 0.5, ready
change bound 5.0 => bound 4.0

// -----

// O21: no bound beyond the mean is proved.
change #sync.order<ready => #sync.order<channel_weight = 0.5, ready
change bound 5.0 => bound 4.125
error sync.solution | O21: the certificate proves 4 s, not 4.125 s

// -----

// O20: the channel weighs at most all.
change #sync.order<ready => #sync.order<channel_weight = 1.5, ready
change bound 5.0 => bound 4.0
error sync.solution | O20: expected a weight of the channel above 0 and at most 1, got 1.5

// -----

// Valid: A good one in two cases: 4 s of computation where "b" travels by factors, messages where it does not.
before forward_end | factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 1.0, reconstruct = 1.0, traffic = 5.0>]
change bound 5.0 certificate #certificate => bound 4.0 certificate #certificate {cases = [0, [4.0, #certificate], [5.0, #certificate]]}

// -----

// Valid: A good one in two orders: the factors of "b" end at 3.5 s before "a", or are ready with it.
before forward_end | factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 2.5, reconstruct = 0.0, traffic = 5.0>]
before forward_end | only [0, 1]
change cut = [0, 128] | ring, merge_class = 0, bytes = 128 => factors, bytes = 256
change cut = [0, 128], ready = 1.0, start = 1.0, end = 2.25 => ready = 1.0, start = 1.0, end = 3.5, reconstructed = 3.5
drop cut = [128, 0]
change start = 2.25, end = 3.5>, => start = 3.5, end = 4.75>]
change tail = 0.5, lines => tail = 1.0, lines
change finish 5.25 bound 5.0 certificate #certificate => finish 5.75 bound 4.5 certificate #certificate {cases = [0, 1, [4.5, #certificate], [5.0, #sync.order<ready = 2.0, tail = 0.5, lines = [0.25, 0.0078125]>]]}

// -----

// O23: only a layer with two ways may be told apart.
change bound 5.0 certificate #certificate => bound 4.0 certificate #certificate {cases = [0, [4.0, #certificate], [4.0, #certificate]]}
error sync.solution | O23: layer 1: expected a layer that travels by factors or in a bucket, and two cases

// -----

// Base: A message in halves.
#certificate = #sync.order<ready = 1.0, tail = 0.5, lines = [0.25, 0.0078125]>
sync.problem @p layers ["a"] bytes [128] ready <[3.0]>
  merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 1.0 backward_end 3.0 updates 0.0 tails <[0.5]> own_updates <[0.0]>
sync.solution of @p by "manual"
  messages [
    #sync.message<layers = [0], scheme = "reduce-scatter", merge_class = 0, bytes = 128, gather = <place = 1, start = 2.625, end = 3.25>, ready = 2.0, start = 2.0, end = 2.625>]
  finish 3.75 bound 2.0 certificate #certificate

// -----

// O14: a message along a tree is one message.
change merge_classes | "reduce-scatter" => tree
change scheme = "reduce-scatter" => scheme = tree
error sync.solution | O14: message 1: travels in halves by 'tree', which has none

// -----

// O14: an all-gather does not stand before its reduce-scatter.
change place = 1 => place = 0
error sync.solution | O14: message 1: gathers bytes 0 to 128 of merge class 1, which no message has reduced before

// -----

// S10: places count from 0.
change place = 1 => place = -1
error S10: expected a place that is not negative, got -1
error failed to parse Sync_MessageAttr parameter 'gather'

// -----

// S18: cases have bounds, or one or two layers.
change certificate #certificate => certificate #certificate {cases = [0, 1, 2]}
error sync.solution | S18: expected 'cases' to be at most 64 cases, each a bound and a #sync.order, or one or two layers and two cases

// -----

// Each row holds the row before twice, so that the cases are 2^40.
#none = #sync.order<ready = 1.0, tail = 0.5, lines = [0.25, 0.0078125]>
#c0 = [4.0, #none]
#c1 = [0, #c0, #c0]
#c2 = [0, #c1, #c1]
#c3 = [0, #c2, #c2]
#c4 = [0, #c3, #c3]
#c5 = [0, #c4, #c4]
#c6 = [0, #c5, #c5]
#c7 = [0, #c6, #c6]
#c8 = [0, #c7, #c7]
#c9 = [0, #c8, #c8]
#c10 = [0, #c9, #c9]
#c11 = [0, #c10, #c10]
#c12 = [0, #c11, #c11]
#c13 = [0, #c12, #c12]
#c14 = [0, #c13, #c13]
#c15 = [0, #c14, #c14]
#c16 = [0, #c15, #c15]
#c17 = [0, #c16, #c16]
#c18 = [0, #c17, #c17]
#c19 = [0, #c18, #c18]
#c20 = [0, #c19, #c19]
#c21 = [0, #c20, #c20]
#c22 = [0, #c21, #c21]
#c23 = [0, #c22, #c22]
#c24 = [0, #c23, #c23]
#c25 = [0, #c24, #c24]
#c26 = [0, #c25, #c25]
#c27 = [0, #c26, #c26]
#c28 = [0, #c27, #c27]
#c29 = [0, #c28, #c28]
#c30 = [0, #c29, #c29]
#c31 = [0, #c30, #c30]
#c32 = [0, #c31, #c31]
#c33 = [0, #c32, #c32]
#c34 = [0, #c33, #c33]
#c35 = [0, #c34, #c34]
#c36 = [0, #c35, #c35]
#c37 = [0, #c36, #c36]
#c38 = [0, #c37, #c37]
#c39 = [0, #c38, #c38]
#c40 = [0, #c39, #c39]
sync.problem @p layers ["a"] bytes [128] ready <[3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 0.25, b = 0.0078125>, traffic = 2.0>]>]
  forward_end 1.0 backward_end 3.0 updates 0.0 tails <[0.5]> own_updates <[0.0]>
// expected-error @below {{S18: expected 'cases' to be at most 64 cases}}
sync.solution of @p by "manual"
  messages [
    #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 128, ready = 2.0, start = 2.0, end = 3.25>]
  finish 3.75 bound 0.0 certificate #none {cases = #c40}
