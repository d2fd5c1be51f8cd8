// RUN: syncline-opt %s --pass-pipeline='builtin.module(nn.step(insert-gradients),form-buckets)' | FileCheck %s

// A bucket takes its members' gradients and stands before every update.

// CHECK: nn.step @two
// CHECK: %[[W:.*]] = nn.parameter "w"
// CHECK: %[[B:.*]] = nn.parameter "b"
// CHECK-NOT: sync.gradient
// CHECK: %[[AGREED:.*]]:2 = sync.all_reduce %{{.*}}, %{{.*}} {bucket = 0 : i64, channel = 0 : i64, end = 2.000000e+00 : f64, members = ["b", "w"], ready = 1.000000e+00 : f64, scheme = #cluster<scheme ring>, start = 1.000000e+00 : f64}
// CHECK-NEXT: nn.update %[[W]], %[[AGREED]]#1
// CHECK-NEXT: nn.update %[[B]], %[[AGREED]]#0
sync.problem @merge layers ["b", "w"] bytes [8, 16] ready [0.5, 1.0] forward_end 0.2 backward_end 1.0 updates 0.0
  cost #cluster.affine<a = 1.0, b = 0.0>
sync.solution of @merge by "single" ends [2] start [1.0] end [2.0] finish 2.0 bound 2.0
nn.step @two batch 1 {
  %w = nn.parameter "w" at 0 : tensor<4xf32>
  %b = nn.parameter "b" at 64 : tensor<2xf32>
  nn.update %w, %w : tensor<4xf32>, tensor<4xf32>
  nn.update %b, %b : tensor<2xf32>, tensor<2xf32>
}
