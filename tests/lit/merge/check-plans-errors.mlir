// Wrong solutions, each rejected for its own numbered reason (passes/proof/README.md, "Rejections").
// RUN: syncline-opt --split-input-file --verify-diagnostics --check-solutions %patched

// Base: Layer 1 rides with layer 2, which travels by factors; layer 3 travels by a ring.
sync.problem @p layers ["c", "b", "a"] bytes [10, 20, 30] ready <[1.0, 2.0, 3.0]>
  merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 1.0>]>,
         #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 1.0>], largest = 40, capacity = 45>]
  factor_options [#sync.factor_option<layer = 1, scheme = factors, seconds = 0.5, reconstruct = 1.0, traffic = 5.0>] piggybacks [0, 1]
  forward_end 0.5 backward_end 3.0 updates 0.0
sync.solution of @p by "me" messages [
    #sync.message<layers = [1], scheme = factors, bytes = 20, ready = 2.0, start = 2.0, end = 2.5, reconstructed = 4.0>,
    #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>]
  piggybacks [0]
  finish 4.0 bound 0.0

// -----

// A message without layers.
before layers = [1] | #sync.message<layers = [], scheme = ring, merge_class = 0, bytes = 0, ready = 0.0, start = 0.0, end = 1.0>,
error sync.solution | J1: message 1: has no layers

// -----

// A layer that is in no message and is no piggyback.
drop piggybacks [0]
error sync.solution | J2: layer 1 is in no message

// -----

// A layer in two messages.
change end = 4.0>] => end = 4.0>,
before piggybacks [0] | #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 4.0, end = 5.0>]
error sync.solution | J3: message 3: layer 3 is in a message already

// -----

// A piggyback with a message of its own.
before layers = [1] | #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = 1.0, end = 2.0>,
error sync.solution | J3: piggyback 1: layer 1 is in a message already

// -----

// A layer that the problem does not have.
change layers = [2] => layers = [3]
error sync.solution | J4: message 2: expected layers up to 3

// -----

// A piggyback that the problem does not have.
change piggybacks [0] => piggybacks [7]
error sync.solution | J4: piggyback 1: expected layers up to 3

// -----

// A scheme that the merge class does not offer.
change layers = [2] | ring => tree
error sync.solution | J5: message 2: expected a merge class and a scheme of the problem

// -----

// A merge class that the problem does not have.
change merge_class = 0 => merge_class = 2
error sync.solution | J5: message 2: expected a merge class and a scheme of the problem

// -----

// A layer that may not travel alone.
change layers = [2] | ring, merge_class = 0 => factors
change end = 4.0 => end = 3.5, reconstructed = 4.5
error sync.solution | J5: message 2: layer 3 may not travel alone that way

// -----

// Two layers in a message that carries one.
drop piggybacks [0]
change layers = [1] => layers = [0, 1]
change bytes = 20 => bytes = 30
error sync.solution | J5: message 1: layer 1 may not travel alone that way

// -----

// Bytes that are not the members' sum.
change bytes = 30 => bytes = 31
error sync.solution | J6: message 2: expected 30 B

// -----

// A message that starts before the step does.
drop piggybacks [0]
before layers = [1] | #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = -1.0, end = 2.0>,
error sync.solution | J7: message 1: expected a finite time >= 0

// -----

// A ready time that is not the last member's.
change ready = 3.0 => ready = 2.5
error sync.solution | J8: message 2: expected ready at 3 s

// -----

// A message that starts before it is ready.
change start = 3.0 => start = 2.75
change end = 4.0 => end = 3.75
error sync.solution | J9: message 2: starts at 2.75 s, but is ready at 3 s

// -----

// A message that starts while the channel is busy.
drop piggybacks [0]
before layers = [1] | #sync.message<layers = [0], scheme = ring, merge_class = 0, bytes = 10, ready = 1.0, start = 1.5, end = 2.5>,
error sync.solution | J10: message 2: starts at 2 s, but the channel is busy until 2.5 s

// -----

// A message that is faster than its scheme.
change end = 4.0 => end = 3.5
error sync.solution | J11: message 2: expected its end at 4 s

// -----

// A finish before the last gradient exists.
change finish 4.0 => finish 3.5
error sync.solution | J12: expected channel, device and plan to end at 4, 4 and 4 s

// -----

// A piggyback whose carrier travels in a bucket.
change layers = [1] | factors => ring, merge_class = 0
change end = 2.5, reconstructed = 4.0 => end = 3.0
error sync.solution | J13: piggyback 1: layer 1 has no carrier that travels alone

// -----

// A bucket that is larger than its merge class allows.
drop layers = [1]
change layers = [2] => layers = [1, 2]
change scheme = ring => scheme = "parameter-server"
change merge_class = 0 => merge_class = 1
change bytes = 30 => bytes = 50
change end = 4.0 => end = 5.0
change finish 4.0 => finish 5.0
error sync.solution | J14: message 1: expected at most 40 B

// -----

// Buckets that are more than their merge class can hold.
change layers = [1] | factors => "parameter-server", merge_class = 1
change end = 2.5, reconstructed = 4.0 => end = 4.0
change layers = [2] | ring => "parameter-server"
change merge_class = 0 => merge_class = 1
change start = 3.0 => start = 4.0
change layers = [2] | end = 4.0 => end = 6.0
change finish 4.0 => finish 6.0
error sync.solution | J15: message 2: expected at most 45 B in merge class 2

// -----

// Messages that do not go in the order of their last members.
drop layers = [2]
before layers = [1] | #sync.message<layers = [2], scheme = ring, merge_class = 0, bytes = 30, ready = 3.0, start = 3.0, end = 4.0>,
change start = 2.0, end = 2.5, reconstructed = 4.0>, => start = 4.0, end = 4.5, reconstructed = 5.5>]
change finish 4.0 => finish 5.5
error sync.solution | J16: message 2: its last layer, 2, comes before message 1's, 3

// -----

// Members that do not ascend.
drop piggybacks [0]
change layers = [1] => layers = [1, 0]
change layers = [1, 0] | factors => ring, merge_class = 0
change bytes = 20 => bytes = 30
change end = 2.5, reconstructed = 4.0 => end = 3.0
error sync.solution | J16: message 1: layer 1 stands after layer 2

// -----

// A gradient that exists before the device, busy with the backward pass, can have reconstructed it.
change reconstructed = 4.0 => reconstructed = 3.5
error sync.solution | J17: message 1: expected its gradients to exist at 4 s

// -----

// Two buckets of one merge class that are open at the same time.
drop piggybacks [0]
change layers = [1] | factors => ring, merge_class = 0
change end = 2.5, reconstructed = 4.0 => end = 3.0
change layers = [2] => layers = [0, 2]
change bytes = 30 => bytes = 40
error sync.solution | J18: message 2: layer 1 comes before layer 2 of the merge class's bucket before

// -----

// A bound that nothing proves.
change bound 0.0 => bound 4.0
error sync.solution | claims the bound 4.000000e+00 without a certificate

// -----

// A solution of a problem that does not exist.
// expected-error @below {{expected a 'sync.problem' named 'none'}}
sync.solution of @none by "me" messages [] finish 0.0 bound 0.0
