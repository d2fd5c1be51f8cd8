// plan.json of a trace: problem and solution are all there is.
// RUN: syncline-translate --plan-to-json %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
  // CHECK: "backend": "cpu"
  // CHECK: "buckets": [
  // CHECK: "bytes": 12
  // CHECK: "end": 3.75
  // CHECK: "exposed": 1.25
  // CHECK: "members": [
  // CHECK-NEXT: "fc",
  // CHECK-NEXT: "conv"
  // CHECK: "ready": 2.0
  // CHECK: "reconstructed": 3.75
  // CHECK: "scheme": "ring"
  // CHECK: "start": 2.75
  // CHECK: "traffic": 36.0
  // CHECK: "certificate": {
  // CHECK: "finish_times": [
  // CHECK: "collectives": [
  // CHECK: "cost": {
  // CHECK-NEXT: "a": 1.0
  // CHECK: "optimal": false
  // CHECK: "planner": "single"
  // Virtual time, and what the planner says.
  // CHECK: "backward_end": 2.5
  // CHECK: "communication_end": 3.75
  // CHECK: "exposed": 1.25
  // CHECK: "forward_end": 0.5
  // CHECK: "planner": {
  // CHECK-NEXT: "bound": 3.0
  // CHECK-NEXT: "earlier": 0.0
  // CHECK-NEXT: "finish": 4.0
  // CHECK-NEXT: "gap": 0.3333
  // CHECK-NEXT: "step": 4.25
  // CHECK: "reconstruction_end": 3.75
  // CHECK: "step": 4.0
  // CHECK: "traffic": 36.0
  // CHECK: "updates": 0.25
  // CHECK: "ranks": 4
  // CHECK: "runnable": false
  // CHECK: "servers": 0
  sync.problem @merge layers ["fc", "conv"] bytes [4, 8] ready <[1.0, 2.0]>
    merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
    forward_end 0.5 backward_end 2.5 updates 0.25
  sync.solution of @merge by "single"
    messages [#sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 12, ready = 2.0, start = 3.0, end = 4.0>]
    finish 4.0 bound 3.0 certificate #sync.times<[0.0, 2.0, 3.0]>
  sync.prediction of @merge ready <[2.0]> start <[2.75]> end <[3.75]> reconstructed <[3.75]> exposed <[1.25]>
    forward_end 0.5 backward_end 2.5 communication_end 3.75 reconstruction_end 3.75 updates 0.25 step 4.0
}
