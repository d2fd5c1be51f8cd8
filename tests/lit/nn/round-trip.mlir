// Every operation of nn parses and prints as it was written.
// RUN: syncline-opt %s | syncline-opt | FileCheck %s

// CHECK-LABEL: nn.step @structure batch 4
nn.step @structure batch 4 {
  // CHECK: %[[X:.*]] = nn.input "x" : tensor<4x2xf32>
  %x = nn.input "x" : tensor<4x2xf32>
  // CHECK: %[[T:.*]] = nn.target "t" : tensor<4xi64>
  %t = nn.target "t" : tensor<4xi64>
  // CHECK: %[[W:.*]] = nn.parameter "w" at 64 : tensor<2x2xf32>
  %w = nn.parameter "w" at 64 : tensor<2x2xf32>
  // CHECK: nn.state "s" init <constant, 0.000000e+00 : f64, 1.000000e+00 : f64> : tensor<2xf32>
  %s = nn.state "s" init <constant, 0.0 : f64, 1.0 : f64> : tensor<2xf32>
  // CHECK: nn.constant dense<5.000000e-01> : tensor<1xf32>
  %c = nn.constant dense<0.5> : tensor<1xf32>
  // CHECK: %[[Y:.*]] = nn.matmul %[[X]], %[[W]] bias %{{.*}} {transpose_b}
  %y = nn.matmul %x, %w bias %s {transpose_b} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK: nn.output %[[Y]] "y" : tensor<4x2xf32>
  nn.output %y "y" : tensor<4x2xf32>
  // CHECK: %[[L:.*]], %{{.*}} = nn.cross_entropy %[[Y]], %[[T]]
  %l, %d = nn.cross_entropy %y, %t : (tensor<4x2xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<4x2xf32>)
  // CHECK: nn.cross_entropy %[[Y]], %[[T]] weights %{{.*}} {smoothing = 1.000000e-01 : f64}
  %k, %f = nn.cross_entropy %y, %t weights %s {smoothing = 0.1 : f64} : (tensor<4x2xf32>, tensor<4xi64>, tensor<2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // CHECK: nn.mean_squared_error %[[Y]], %[[X]]
  %m, %e = nn.mean_squared_error %y, %x : (tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<f32>, tensor<4x2xf32>)
  // CHECK: nn.loss %[[L]] : tensor<f32>
  nn.loss %l : tensor<f32>
  // CHECK: nn.update %[[W]], %[[W]] : tensor<2x2xf32>, tensor<2x2xf32>
  nn.update %w, %w : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: nn.step @windows
nn.step @windows batch 2 {
  %x = nn.input "x" : tensor<2x2x6xf32>
  %w = nn.parameter "w" at 0 : tensor<4x1x3xf32>
  %b = nn.parameter "b" at 0 : tensor<4xf32>
  // CHECK: nn.conv %{{.*}}, %{{.*}} bias %{{.*}} {activation = #nn<activation relu>, dilations = array<i64: 1>, groups = 2 : i64
  %y = nn.conv %x, %w bias %b {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 1>,
    pads_end = array<i64: 1>, groups = 2 : i64, activation = #nn<activation relu>}
    : (tensor<2x2x6xf32>, tensor<4x1x3xf32>, tensor<4xf32>) -> tensor<2x4x6xf32>
  // CHECK: nn.conv_backward_data %{{.*}}, %{{.*}} {
  %dx = nn.conv_backward_data %y, %w {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 1>,
    pads_end = array<i64: 1>, groups = 2 : i64} : (tensor<2x4x6xf32>, tensor<4x1x3xf32>) -> tensor<2x2x6xf32>
  // CHECK: %{{.*}}, %{{.*}} = nn.conv_backward_weights %{{.*}}, %{{.*}} {
  %dw, %db = nn.conv_backward_weights %x, %y {strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 1>,
    pads_end = array<i64: 1>, groups = 2 : i64} : (tensor<2x2x6xf32>, tensor<2x4x6xf32>) -> (tensor<4x1x3xf32>, tensor<4xf32>)
  // CHECK: nn.max_pool
  %p, %ws = nn.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 0>,
    pads_end = array<i64: 0>} : (tensor<2x2x6xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xui8>)
  // CHECK: nn.max_pool_backward
  %dp = nn.max_pool_backward %p, %ws {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_begin = array<i64: 0>, pads_end = array<i64: 0>} : (tensor<2x2x3xf32>, tensor<2x2x3xui8>) -> tensor<2x2x6xf32>
  // CHECK: nn.average_pool {{.*}}count_include_pad
  %a = nn.average_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads_begin = array<i64: 0>,
    pads_end = array<i64: 0>, count_include_pad} : (tensor<2x2x6xf32>) -> tensor<2x2x3xf32>
  // CHECK: nn.average_pool_backward
  %da = nn.average_pool_backward %a {kernel = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
    pads_begin = array<i64: 0>, pads_end = array<i64: 0>} : (tensor<2x2x3xf32>) -> tensor<2x2x6xf32>
}

// CHECK-LABEL: nn.step @normalisations
nn.step @normalisations batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  %m = nn.state "m" at 0 : tensor<3xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[WS:.*]] = nn.batch_norm
  %y, %bm, %bv, %ws = nn.batch_norm %x, %s, %s, %m, %m {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, activation = #nn<activation relu>}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xui8>)
  // CHECK: nn.batch_norm_backward {{.*}} workspace %[[WS]]
  %dx, %ds, %db = nn.batch_norm_backward %x, %s, %bm, %bv, %y workspace %ws {epsilon = 1.0e-5 : f64, activation = #nn<activation relu>}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: nn.layer_norm %{{.*}}, %{{.*}} shift %{{.*}} {epsilon = {{.*}}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %ln = nn.layer_norm %x, %s shift %s {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.layer_norm_backward
  %lx, %ls, %lb = nn.layer_norm_backward %x, %s, %ln {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: nn.lrn %{{.*}} {alpha = {{.*}}, beta = {{.*}}, bias = {{.*}}, size = 3 : i64} : tensor<2x3xf32>
  %l = nn.lrn %x {size = 3 : i64, alpha = 0.1 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : tensor<2x3xf32>
  // CHECK: nn.lrn_backward
  %dl = nn.lrn_backward %x, %l {size = 3 : i64, alpha = 0.1 : f64, beta = 0.75 : f64, bias = 1.0 : f64} : tensor<2x3xf32>
  // CHECK: nn.resample %{{.*}} {antialias, axes = array<i64: 1>, coordinates = array<i64: 1, 0, 2>, cubic_coefficient = {{.*}}, filter = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %re = nn.resample %x {axes = array<i64: 1>, coordinates = array<i64: 1, 0, 2>, filter = 4 : i64, cubic_coefficient = 0.0 : f64, antialias} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  // CHECK: nn.resample_backward
  %dre = nn.resample_backward %re {axes = array<i64: 1>, coordinates = array<i64: 1, 0, 2>, filter = 5 : i64, cubic_coefficient = -0.5 : f64, exclude_outside} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  // CHECK: nn.softmax %{{.*}} {axis = 1 : i64, logarithm} : tensor<2x3xf32>
  %o = nn.softmax %x {axis = 1 : i64, logarithm} : tensor<2x3xf32>
  // CHECK: nn.softmax_backward %{{.*}}, %{{.*}} {axis = 1 : i64, logarithm} : tensor<2x3xf32>
  %do = nn.softmax_backward %o, %x {axis = 1 : i64, logarithm} : tensor<2x3xf32>
  // CHECK: %[[D:.*]], %[[MASK:.*]] = nn.dropout %{{.*}} {ratio = 5.000000e-01 : f64}
  %d, %mask = nn.dropout %x {ratio = 0.5 : f64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
  // CHECK: nn.dropout_backward %[[D]], %[[MASK]] {ratio = 5.000000e-01 : f64} : tensor<2x3xf32>, tensor<2x3xui8>
  %dd = nn.dropout_backward %d, %mask {ratio = 0.5 : f64} : tensor<2x3xf32>, tensor<2x3xui8>
  // CHECK: nn.noise {distribution = 1 : i64, evaluated = 5.000000e-01 : f64, first = 5.000000e-01 : f64, second = 2.000000e+00 : f64} : tensor<2x3xf32>
  %drawn = nn.noise {distribution = 1 : i64, first = 0.5 : f64, second = 2.0 : f64, evaluated = 0.5 : f64} : tensor<2x3xf32>
}

// CHECK-LABEL: nn.step @elements
nn.step @elements batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %s = nn.parameter "s" at 0 : tensor<3xf32>
  // CHECK: nn.unary leaky_relu %{{.*}} {alpha = 1.000000e-01 : f64, nn.layer = "act", nn.seconds = 1.000000e-03 : f64} : tensor<2x3xf32>
  %u = nn.unary leaky_relu %x {alpha = 0.1 : f64, nn.layer = "act", nn.seconds = 1.0e-3 : f64} : tensor<2x3xf32>
  // CHECK: nn.unary_backward sigmoid %{{.*}}, %{{.*}} {nn.backward} : tensor<2x3xf32>
  %du = nn.unary_backward sigmoid %u, %x {nn.backward} : tensor<2x3xf32>
  // CHECK: nn.binary mul %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %b = nn.binary mul %x, %s : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.prelu_backward %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3xf32>
  %pa, %pb = nn.prelu_backward %x, %s, %b : tensor<2x3xf32>, tensor<3xf32>
  // CHECK: nn.broadcast %{{.*}} : (tensor<3xf32>) -> tensor<2x3xf32>
  %r = nn.broadcast %s : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: nn.pointwise %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %p:2 = nn.pointwise %x, %s : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32):
  ^bb0(%e: f32, %f: f32):
    // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[P]], %[[Q]] : f32
    %sum = arith.addf %e, %f : f32
    // CHECK-NEXT: nn.yield %[[SUM]], %[[P]] : f32, f32
    nn.yield %sum, %e : f32, f32
  }
}

// CHECK-LABEL: nn.step @shapes
nn.step @shapes batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  // CHECK: nn.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<6xf32>
  %r = nn.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: nn.transpose %{{.*}} {permutation = array<i64: 1, 0>}
  %t = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: nn.concat %{{.*}}, %{{.*}} {axis = 0 : i64}
  %c = nn.concat %x, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: nn.slice %{{.*}} {starts = array<i64: 0, 2>, steps = array<i64: 1, -1>}
  %s = nn.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: nn.slice_backward %{{.*}} {starts = array<i64: 0, 2>, steps = array<i64: 1, -1>}
  %d = nn.slice_backward %s {starts = array<i64: 0, 2>, steps = array<i64: 1, -1>} : (tensor<2x2xf32>) -> tensor<2x3xf32>
  // CHECK: nn.pad %{{.*}} {begins = array<i64: 0, 1>, value = 0.000000e+00 : f64}
  %p = nn.pad %x {begins = array<i64: 0, 1>, value = 0.0 : f64} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  // CHECK: nn.reduce mean %{{.*}} {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %m = nn.reduce mean %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
}

// CHECK-LABEL: nn.step @rows
nn.step @rows batch 2 {
  %i = nn.input "i" : tensor<2x5xi64>
  %t = nn.parameter "t" at 0 : tensor<7x3xf32>
  // CHECK: nn.embedding %{{.*}}, %{{.*}} : (tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x3xf32>
  %y = nn.embedding %i, %t : (tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x3xf32>
  // CHECK: nn.embedding_backward %{{.*}}, %{{.*}} : (tensor<2x5xi64>, tensor<2x5x3xf32>) -> tensor<7x3xf32>
  %d = nn.embedding_backward %i, %y : (tensor<2x5xi64>, tensor<2x5x3xf32>) -> tensor<7x3xf32>
  // CHECK: nn.embedding_backward %{{.*}}, %{{.*}} onto %{{.*}} : (tensor<2x5xi64>, tensor<2x5x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  %e = nn.embedding_backward %i, %y onto %d : (tensor<2x5xi64>, tensor<2x5x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
}

// CHECK-LABEL: @indices
nn.step @indices batch 2 {
  %i = nn.input "i" : tensor<2x5xi64>
  %x = nn.parameter "x" at 0 : tensor<2x3x7xf32>
  // CHECK: nn.gather_rows %{{.*}}, %{{.*}} {axis = 2 : i64, shared = 1 : i64} : (tensor<2x3x7xf32>, tensor<2x5xi64>) -> tensor<2x3x5xf32>
  %y = nn.gather_rows %x, %i {axis = 2 : i64, shared = 1 : i64} : (tensor<2x3x7xf32>, tensor<2x5xi64>) -> tensor<2x3x5xf32>
  // CHECK: nn.scatter_rows %{{.*}}, %{{.*}} {axis = 2 : i64, kind = 0 : i64, shared = 1 : i64} : (tensor<2x3x5xf32>, tensor<2x5xi64>) -> tensor<2x3x7xf32>
  %z = nn.scatter_rows %y, %i {axis = 2 : i64, kind = 0 : i64, shared = 1 : i64} : (tensor<2x3x5xf32>, tensor<2x5xi64>) -> tensor<2x3x7xf32>
  // CHECK: nn.scatter_rows %{{.*}}, %{{.*}} onto %{{.*}} {
  %o = nn.scatter_rows %y, %i onto %x {axis = 2 : i64, kind = 1 : i64, shared = 1 : i64} : (tensor<2x3x5xf32>, tensor<2x5xi64>, tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  // CHECK: nn.top_k %{{.*}} {largest} : (tensor<2x3x7xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>)
  %v, %n = nn.top_k %x {largest} : (tensor<2x3x7xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>)
}
