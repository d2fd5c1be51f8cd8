// plan.json of a trace whose gradients travel by factors and by servers.
// RUN: syncline-translate --plan-to-json %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>,
  servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>>>} {
  // A bias that rides is a member of the message that brings it, and counts; its gradient exists once it is reconstructed.
  // CHECK: "buckets": [
  // CHECK: "bytes": 72
  // CHECK: "end": 3.0
  // CHECK: "members": [
  // CHECK-NEXT: "fc.weight",
  // CHECK-NEXT: "fc.bias"
  // CHECK-NEXT: ]
  // CHECK: "reconstructed": 3.5
  // CHECK: "scheme": "factors"
  // CHECK: "traffic": 100.0
  // CHECK: "members": [
  // CHECK-NEXT: "conv"
  // CHECK: "reconstructed": 5.0
  // CHECK: "scheme": "parameter-server"
  // CHECK: "traffic": 24.0
  // CHECK: "certificate": null
  // CHECK: "servers": {
  // CHECK: "count": 2
  // CHECK: "predicted": {
  // CHECK: "finish": 5.0
  // CHECK: "reconstruction_end": 5.0
  // CHECK: "step": 5.125
  // CHECK: "traffic": 124.0
  sync.problem @merge layers ["fc.weight", "fc.bias", "conv"] bytes [64, 8, 8] ready <[1.0, 1.0, 2.0]>
    merge_classes [#sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 3.0>]>]
    factor_options [#sync.factor_option<layer = 0, scheme = factors, seconds = 2.0, reconstruct = 0.5, traffic = 100.0, factorBytes = 20>] piggybacks [1, 0]
    forward_end 0.5 backward_end 2.5 updates 0.25
  sync.solution of @merge by "poseidon"
    messages [#sync.message<layers = [0], scheme = factors, bytes = 64, ready = 1.0, start = 1.0, end = 3.0, reconstructed = 3.5>,
      #sync.message<layers = [2], scheme = "parameter-server", merge_class = 0, bytes = 8, ready = 2.0, start = 3.0, end = 5.0>]
    piggybacks [1] finish 5.0 bound 0.0
  sync.prediction of @merge ready <[1.0, 2.0]> start <[1.0, 3.0]> end <[3.0, 5.0]> reconstructed <[3.5, 5.0]> exposed <[0.0, 2.0]>
    forward_end 0.5 backward_end 2.5 communication_end 5.0 reconstruction_end 5.0 updates 0.25 step 5.125
}
