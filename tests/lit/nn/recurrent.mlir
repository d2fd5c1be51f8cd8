// Recurrent layers are read as they are printed, and differentiated into one operation.
// RUN: syncline-opt %s | syncline-opt | FileCheck %s
// RUN: syncline-opt --pass-pipeline='builtin.module(nn.step(differentiate))' %s | FileCheck --check-prefix=BACKWARD %s

// CHECK: %[[Y:.*]], %[[LAST:.*]], %[[SAVED:.*]] = nn.recurrent %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} lengths %{{.*}} {cell = 2 : i64, nn.layer = "gru", reverse}
// BACKWARD: %{{.*}}, %{{.*}}, %[[SAVED:.*]] = nn.recurrent %
// BACKWARD: %[[ZERO:.*]] = nn.broadcast %{{.*}} -> tensor<1x1x2x4xf32>
// BACKWARD: %{{.*}}, %[[DR:.*]], %[[DB:.*]], %{{.*}} = nn.recurrent_backward %{{.*}}, %{{.*}}, %[[SAVED]], %{{.*}}, %[[ZERO]] lengths %{{.*}} {cell = 2 : i64, nn.backward, nn.layer = "gru", reverse}
// BACKWARD-DAG: nn.update %{{.*}}, %[[DR]]
// BACKWARD-DAG: nn.update %{{.*}}, %[[DB]]
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<3x2x12xf32>
  %n = nn.input "n" : tensor<2xi64>
  %s = nn.input "s" : tensor<1x1x2x4xf32>
  %t = nn.target "t" : tensor<3x2x4xf32>
  %r = nn.parameter "r" at 0 : tensor<1x12x4xf32>
  %b = nn.parameter "b" at 192 : tensor<1x24xf32>
  %y, %last, %saved = nn.recurrent %x, %r, %b, %s lengths %n {cell = 2 : i64, nn.layer = "gru", reverse} : (tensor<3x2x12xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>, tensor<1x1x2x4xf32>, tensor<2xi64>) -> (tensor<3x2x4xf32>, tensor<1x1x2x4xf32>, tensor<1x3x2x20xf32>)
  %l, %d = nn.mean_squared_error %y, %t : (tensor<3x2x4xf32>, tensor<3x2x4xf32>) -> (tensor<f32>, tensor<3x2x4xf32>)
  nn.loss %l : tensor<f32>
}
