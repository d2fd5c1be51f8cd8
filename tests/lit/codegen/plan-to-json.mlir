// plan.json of a trace: problem and solution are all there is.
// RUN: syncline-translate --plan-to-json %s | FileCheck %s

module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>]>} {
  // CHECK: "backend": "cpu"
  // CHECK: "buckets": [
  // CHECK: "bytes": 12
  // CHECK: "end": 4.0
  // CHECK: "members": [
  // CHECK-NEXT: "fc",
  // CHECK-NEXT: "conv"
  // CHECK: "ready": 2.0
  // CHECK: "rebuilt": 4.0
  // CHECK: "scheme": "ring"
  // CHECK: "start": 3.0
  // CHECK: "traffic": 36.0
  // CHECK: "certificate": {
  // CHECK: "finish_times": [
  // CHECK: "collectives": [
  // CHECK: "cost": {
  // CHECK-NEXT: "a": 1.0
  // CHECK: "optimal": false
  // CHECK: "planner": "single"
  // CHECK: "backward_end": 2.5
  // CHECK: "bound": 3.0
  // CHECK: "communication_end": 4.0
  // CHECK: "exposed": 1.5
  // CHECK: "gap": 0.3333
  // CHECK: "step": 4.25
  // CHECK: "traffic": 36.0
  // CHECK: "ranks": 4
  // CHECK: "runnable": false
  // CHECK: "servers": 0
  sync.problem @merge layers ["fc", "conv"] bytes [4, 8] ready <[1.0, 2.0]>
    lanes [#sync.lane<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 3.0>]>]
    forward_end 0.5 backward_end 2.5 updates 0.25
  sync.solution of @merge by "single"
    messages [#sync.message<layers = [0, 1], scheme = ring, lane = 0, bytes = 12, ready = 2.0, start = 3.0, end = 4.0>]
    finish 4.0 bound 3.0 certificate #sync.times<[0.0, 2.0, 3.0]>
}
