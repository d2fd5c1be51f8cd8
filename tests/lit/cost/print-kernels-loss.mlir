// What the loss and windows of convolutions are for eager kernels.
// RUN: syncline-opt %s -o /dev/null -split-input-file -pass-pipeline='builtin.module(nn.step(print-kernels))' | FileCheck %s
// RUN: syncline-opt %s -o /dev/null -split-input-file -pass-pipeline='builtin.module(nn.step(print-kernels{like=compiled}))' | FileCheck %s --check-prefix=FUSED

// Eager kernels read or write six times 32 bits of each of eight scores, which they convert from 16 bits and back.
// CHECK-DAG: 1 softmax 0 192 1 1 1 1 1 4 0 0 0
// CHECK-DAG: 1 pointwise 0 96 1 1 1 1 1 2 0 0 0
// FUSED-DAG: 1 softmax 0 96 1 1 1 1 1 2 0 0 0
module attributes {nn.precision = "bf16"} {
  nn.step @step batch 4 {
    %y = nn.input "y" : tensor<4x2xf32>
    %t = nn.target "t" : tensor<4xi64>
    %l, %d = nn.cross_entropy %y, %t : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  }
}

// -----

// Winograd's algorithm and FFTs serve windows of at least nine places in two dimensions.
// CHECK-DAG: 1 convolution 4608 2084 256 1 9 1 1 1 2048 1 0
// CHECK-DAG: 1 convolution 11264 4140 512 1 11 1 1 1 4096 1 0
// CHECK-DAG: 1 convolution 3072 4108 512 1 3 1 1 1 4096 0 0
// CHECK-DAG: 1 convolution 27648 4204 512 1 27 1 1 1 4096 0 0
module {
  nn.step @step batch 1 {
    %x = nn.input "x" : tensor<1x1x16x16xf32>
    %v = nn.parameter "v" at 0 : tensor<1x1x3x3xf32>
    %0 = nn.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 1, 1>, pads_end = array<i64: 1, 1>}
      : (tensor<1x1x16x16xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x16x16xf32>
    %line = nn.input "line" : tensor<1x1x512xf32>
    %w = nn.parameter "w" at 1 : tensor<1x1x11xf32>
    %1 = nn.conv %line, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 5>, pads_end = array<i64: 5>}
      : (tensor<1x1x512xf32>, tensor<1x1x11xf32>) -> tensor<1x1x512xf32>
    %u = nn.parameter "u" at 2 : tensor<1x1x3xf32>
    %2 = nn.conv %line, %u {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 1>, pads_end = array<i64: 1>}
      : (tensor<1x1x512xf32>, tensor<1x1x3xf32>) -> tensor<1x1x512xf32>
    %cube = nn.input "cube" : tensor<1x1x8x8x8xf32>
    %z = nn.parameter "z" at 3 : tensor<1x1x3x3x3xf32>
    %3 = nn.conv %cube, %z {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pads_begin = array<i64: 1, 1, 1>, pads_end = array<i64: 1, 1, 1>}
      : (tensor<1x1x8x8x8xf32>, tensor<1x1x3x3x3xf32>) -> tensor<1x1x8x8x8xf32>
  }
}
