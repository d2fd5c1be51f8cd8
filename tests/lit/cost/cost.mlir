// The pass `cost` writes predicted seconds where time is taken, and only there.
// RUN: syncline-opt %s -split-input-file -pass-pipeline='builtin.module(nn.step(cost))' | FileCheck %s

// Roofline: 128 operations against 224 bytes at the same rate; a relu's 32 bytes in, 32 out; five times 64 bytes for an update.
// CHECK-LABEL: nn.step @roofline
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 2, device = <compute = 1.0e9, memory = 1.0e9, launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @roofline batch 4 {
    // CHECK-NOT: nn.seconds
    // CHECK: nn.matmul {{.*}}nn.seconds = 2.240000e-07 : f64
    // CHECK: nn.unary relu {{.*}}nn.seconds = 6.400000e-08 : f64
    // CHECK-NOT: nn.output {{.*}}nn.seconds
    // CHECK: nn.update {{.*}}nn.seconds = 3.200000e-07 : f64
    %x = nn.input "x" : tensor<4x8xf32>
    %w = nn.parameter "w" at 0 : tensor<2x8xf32>
    %y = nn.matmul %x, %w {transpose_b} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
    %z = nn.unary relu %y : tensor<4x2xf32>
    nn.output %z "z" : tensor<4x2xf32>
    nn.update %w, %w : tensor<2x8xf32>, tensor<2x8xf32>
  }
}

// -----

// Profile: each phase of a layer keeps its measured sum; a layer without measurement is predicted.
// CHECK-LABEL: nn.step @profile
module attributes {cluster.profile = {fc = #cluster.times<forward = 1.0, backward = 3.0>},
  cluster.spec = #cluster.spec<name = "a", ranks = 2, device = <compute = 1.0, memory = 1.0, launchOverhead = 0.5>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @profile batch 4 {
    // CHECK: nn.unary relu {{.*}}nn.seconds = 1.000000e+00 : f64
    // CHECK: nn.unary relu {{.*}}nn.seconds = 1.500000e+00 : f64
    // CHECK: nn.unary relu {{.*}}nn.seconds = 1.500000e+00 : f64
    // CHECK: nn.unary relu {{.*}}nn.seconds = 6.450000e+01 : f64
    %x = nn.input "x" : tensor<4x2xf32>
    %a = nn.unary relu %x {nn.layer = "fc"} : tensor<4x2xf32>
    %b = nn.unary relu %a {nn.layer = "fc", nn.backward} : tensor<4x2xf32>
    %c = nn.unary relu %b {nn.layer = "fc", nn.backward} : tensor<4x2xf32>
    %d = nn.unary relu %c {nn.layer = "other"} : tensor<4x2xf32>
  }
}

// -----

// Where a node is slower, all wait for it: 256 bytes at 64 a second and twice the overhead of 1 s.
// CHECK-LABEL: nn.step @slow
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 1.0e9, memory = 128.0, launchOverhead = 1.0>,
    link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, overrides = [<nodes = [1], slowdown = 2.0>]>} {
  nn.step @slow batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    // CHECK: nn.unary relu {{.*}}nn.seconds = 6.0
    %y = nn.unary relu %x : tensor<4x8xf32>
  }
}

// -----

// A device with kernels, in the step's precision: 1,048,576 operations at half of 1000 a second, whose one tile
// fills the only multiprocessor, and half a second to begin; the parameter is rounded within another kernel, and
// its update begins with others. All twice, on the slow node.
// CHECK-LABEL: nn.step @kernels
module attributes {nn.precision = "bf16", cluster.spec = #cluster.spec<name = "a", ranks = 2,
    device = <compute = 1.0, memory = 1.0, launchOverhead = 1.0, kernels = <like = "best", numbers = {bandwidth = 1.0e12 : f64,
      bf16 = 1.0e3 : f64, launch = 0.5 : f64, product = 0.5 : f64}>>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>], overrides = [<nodes = [1], slowdown = 2.0>]>} {
  nn.step @kernels batch 4 {
    %x = nn.input "x" : tensor<128x16xf32>
    %w = nn.parameter "w" at 0 : tensor<16x256xf32>
    // CHECK: nn.matmul {{.*}}nn.seconds = 4195.304
    %y = nn.matmul %x, %w : (tensor<128x16xf32>, tensor<16x256xf32>) -> tensor<128x256xf32>
    // CHECK: nn.update {{.*}}nn.seconds = 0.10
    nn.update %w, %w : tensor<16x256xf32>, tensor<16x256xf32>
  }
}

// -----

// The host needs 100 s to issue the only kernel.
// CHECK-LABEL: nn.step @issued
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 2,
    device = <launchOverhead = 1.0, kernels = <like = "pytorch", numbers = {bandwidth = 1.0e12 : f64, fp32 = 1.0 : f64,
      issue = 100.0 : f64}>>,
    collectives = [<ring, #cluster.affine<a = 0.0, b = 0.0>>]>} {
  nn.step @issued batch 4 {
    %x = nn.input "x" : tensor<4x8xf32>
    // CHECK: nn.unary relu {{.*}}nn.seconds = 1.000000e+02
    %y = nn.unary relu %x : tensor<4x8xf32>
  }
}
