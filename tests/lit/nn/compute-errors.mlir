// What the verifiers of linear, window and normalising operations refuse.
// RUN: syncline-opt -split-input-file -verify-diagnostics %patched

// Base: One of each window operation.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3x4x4xf32>
  %kernel = nn.parameter "kernel" at 0 : tensor<5x3x1x1xf32>
  %bias = nn.parameter "bias" at 64 : tensor<5xf32>
  %conv = nn.conv %x, %kernel bias %bias {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<5x3x1x1xf32>, tensor<5xf32>) -> tensor<2x5x4x4xf32>
  %square = nn.parameter "square" at 128 : tensor<3x3x2x2xf32>
  %dx = nn.conv_backward_data %x, %square {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<3x3x2x2xf32>) -> tensor<2x3x5x5xf32>
  %dw, %db = nn.conv_backward_weights %x, %x {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) -> (tensor<3x3x1x1xf32>, tensor<3xf32>)
  %most, %where = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> (tensor<2x3x3x3xf32>, tensor<2x3x3x3xui8>)
  %places = nn.input "places" : tensor<2x3x4x4xui8>
  %dmost = nn.max_pool_backward %x, %places {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xui8>) -> tensor<2x3x5x5xf32>
  %mean = nn.average_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> tensor<2x3x3x3xf32>
  %res = nn.resample %x {axes = array<i64: 2, 3>, coordinates = array<i64: 1, 0, 2, 1, 0, 2>, filter = 4 : i64, cubic_coefficient = 0.0 : f64} : (tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32>
  %dres = nn.resample_backward %res {axes = array<i64: 2, 3>, coordinates = array<i64: 1, 0, 2, 1, 0, 2>, filter = 4 : i64, cubic_coefficient = 0.0 : f64} : (tensor<2x3x8x8xf32>) -> tensor<2x3x4x4xf32>
  %dmean = nn.average_pool_backward %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads_begin = array<i64: 0, 0>, pads_end = array<i64: 0, 0>} : (tensor<2x3x4x4xf32>) -> tensor<2x3x5x5xf32>
}

// -----

// A bias for other channels.
change "bias" at | tensor<5xf32> => tensor<3xf32>
change %conv = | tensor<5xf32> => tensor<3xf32>
error NN10: expected a bias of one element per output channel

// -----

// A result of another size than the windows have.
change "kernel" at | tensor<5x3x1x1xf32> => tensor<5x3x2x2xf32>
change %conv = | tensor<5x3x1x1xf32> => tensor<5x3x2x2xf32>
error NN10: expected result of shape 2x5x3x3, got 2x5x4x4

// -----

// A kernel for other channels.
change "kernel" at | tensor<5x3x1x1xf32> => tensor<5x2x1x1xf32>
change %conv = | tensor<5x3x1x1xf32> => tensor<5x2x1x1xf32>
error NN10: channels of x 2x3x4x4 and w 5x2x1x1 do not match for 1 groups

// -----

// A gradient of another size than the windows have.
change %dx = | tensor<2x3x5x5xf32> => tensor<2x3x4x4xf32>
error NN11: expected dy of shape 2x3x3x3, got 2x3x4x4

// -----

// A resampling that changes another dimension.
drop %dres =
change %res = | tensor<2x3x8x8xf32> => tensor<2x4x8x8xf32>
error NN18: dimension 1 is not resized, but 3 becomes 4

// -----

// A rank that changes.
change %dres = | -> tensor<2x3x4x4xf32> => -> tensor<6x4x4xf32>
error NN18: expected operand and result of one rank

// -----

// Axes that descend.
drop %dres =
change %res = | axes = array<i64: 2, 3> => axes = array<i64: 3, 2>
error NN18: dimension 2 is not resized, but 4 becomes 8

// -----

// An axis behind the last.
drop %dres =
change %res = | axes = array<i64: 2, 3> => axes = array<i64: 2, 3, 4>
error NN18: expected 1 to 3 ascending axes within the rank, got 2x3x4

// -----

// Coordinates of one axis alone.
drop %dres =
change %res = | array<i64: 1, 0, 2, 1, 0, 2> => array<i64: 1, 0, 2>
error NN18: expected three coordinates an axis

// -----

// A divisor of zero.
change %dres = | array<i64: 1, 0, 2, 1, 0, 2> => array<i64: 1, 0, 2, 1, 0, 0>
error NN18: coordinates of axis 3 are beyond the range

// -----

// A filter that is none.
drop %dres =
change %res = | filter = 4 => filter = 6
error NN18: expected a filter from 0 to 5, got 6

// -----

// A bias's gradient for other channels.
change %dw, %db = | tensor<3xf32> => tensor<4xf32>
error NN11: expected a bias gradient of one element per output channel

// -----

// A workspace of the operand's shape.
change %most, %where = | tensor<2x3x3x3xui8> => tensor<2x3x4x4xui8>
error NN13: expected a workspace of the result's shape

// -----

// A workspace of another shape than the gradient's.
change "places" | tensor<2x3x4x4xui8> => tensor<2x3x3x3xui8>
change %dmost = | tensor<2x3x4x4xui8> => tensor<2x3x3x3xui8>
error NN13: expected a workspace of dy's shape

// -----

// A mean for each element.
change %mean = | tensor<2x3x3x3xf32> => tensor<2x3x4x4xf32>
error NN13: expected result of shape 2x3x3x3, got 2x3x4x4

// -----

// A mean's gradient for each element.
change %dmean = | tensor<2x3x5x5xf32> => tensor<2x3x4x4xf32>
error NN13: expected dy of shape 2x3x3x3, got 2x3x4x4

// -----

// Base: One of each linear, normalising and looking-up operation.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3xf32>
  %product = nn.matmul %x, %x {transpose_b} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %scale = nn.parameter "scale" at 0 : tensor<3xf32>
  %s = nn.state "s" at 0 : tensor<3xf32>
  %norm, %m, %v = nn.batch_norm %x, %scale, %scale, %s, %s {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %layer = nn.layer_norm %x, %scale {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %a, %b, %c = nn.layer_norm_backward %x, %scale, %x {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %soft = nn.softmax %x {axis = 1 : i64} : tensor<2x3xf32>
  %dsoft = nn.softmax_backward %x, %x {axis = 1 : i64} : tensor<2x3xf32>
  %some, %which = nn.dropout %x {ratio = 0.5 : f64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
  %drawn = nn.noise {distribution = 0 : i64, first = 0.0 : f64, second = 1.0 : f64, evaluated = 0.5 : f64} : tensor<2x3xf32>
  %mask = nn.input "mask" : tensor<2x3xui8>
  %dsome = nn.dropout_backward %x, %mask {ratio = 0.5 : f64} : tensor<2x3xf32>, tensor<2x3xui8>
  %ids = nn.input "ids" : tensor<2x5xi64>
  %table = nn.parameter "table" at 64 : tensor<7x3xf32>
  %rows = nn.embedding %ids, %table : (tensor<2x5xi64>, tensor<7x3xf32>) -> tensor<2x5x3xf32>
  %dtable = nn.embedding_backward %ids, %rows onto %table : (tensor<2x5xi64>, tensor<2x5x3xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
}

// -----

// Matrices that do not fit.
drop %product = | {transpose_b}
error NN12: inner dimensions differ: 3 and 2

// -----

// A product of another size.
change %product = | tensor<2x2xf32> => tensor<3x3xf32>
error NN12: expected result of shape 2x2, got 3x3

// -----

// Running statistics that are parameters.
change nn.state "s" => nn.parameter "s"
error %norm, %m, %v = | NN14: expected results of 'nn.state' as running statistics

// -----

// An activation without a workspace.
change %norm, %m, %v = | momentum = 0.1 : f64 => momentum = 0.1 : f64, activation = #nn<activation relu>
error NN14: a workspace comes with a fused activation, and only then

// -----

// A scale for other channels.
before %norm, %m, %v = | %z = nn.state "z" at 0 : tensor<2xf32>
change nn.batch_norm %x, %scale => nn.batch_norm %x, %z
change %norm, %m, %v = | : (tensor<2x3xf32>, tensor<3xf32> => : (tensor<2x3xf32>, tensor<2xf32>
error NN14: expected one element for each of the 3 channels

// -----

// A scale of other dimensions than the last.
before %layer = | %z = nn.parameter "z" at 0 : tensor<2xf32>
change nn.layer_norm %x, %scale => nn.layer_norm %x, %z
change %layer = | tensor<3xf32> => tensor<2xf32>
error NN17: expected scale and shift of the last dimensions of 'tensor<2x3xf32>', got 'tensor<2xf32>'

// -----

// A negative epsilon.
change nn.layer_norm_backward | epsilon = 1.0e-5 => epsilon = -1.0
error NN17: expected an epsilon that is not negative

// -----

// An axis behind the last.
change %soft = | axis = 1 => axis = 2
error NN15: expected an axis within the operand's rank, got 2

// -----

// An axis before the first.
change %dsoft = | axis = 1 => axis = -1
error NN15: expected an axis within the operand's rank, got -1

// -----

// Nothing is left.
change %some, %which = | ratio = 0.5 => ratio = 1.0
error NN16: expected a ratio in [0, 1), got 1

// -----

// Bounds that are not in order.
change %drawn = | first = 0.0 => first = 2.0
error NN19: expected bounds in order, got 2.000000e+00 and 1.000000e+00

// -----

// A negative deviation.
change %drawn = | distribution = 0 => distribution = 1
change %drawn = | second = 1.0 => second = -1.0
error NN19: expected a deviation of at least 0, got -1.000000e+00

// -----

// No probability.
change %drawn = | distribution = 0 => distribution = 2
change %drawn = | first = 0.0 => first = 1.5
error NN19: expected a probability in [0, 1], got 1.500000e+00

// -----

// No number.
change %drawn = | evaluated = 0.5 => evaluated = 0x7FF0000000000000
error NN19: expected finite numbers

// -----

// A distribution that is none.
change %drawn = | distribution = 0 => distribution = 3
error NN19: expected a distribution from 0 to 2, got 3

// -----

// A mask of another shape.
change "mask" | tensor<2x3xui8> => tensor<2xui8>
change %dsome = | tensor<2x3xui8> => tensor<2xui8>
error NN16: expected a mask of the operand's shape

// -----

// Ids that are no integers.
drop %dtable =
change "ids" | tensor<2x5xi64> => tensor<2x5xf32>
change %rows = | tensor<2x5xi64> => tensor<2x5xf32>
error NN46: expected ids of i64, got 'tensor<2x5xf32>'

// -----

// Rows longer than the table's.
drop %dtable =
change %rows = | tensor<2x5x3xf32> => tensor<2x5x4xf32>
error NN46: expected rows of shape 2x5x3, got 2x5x4

// -----

// A table without rows.
before %dtable = | %y = nn.input "y" : tensor<2x5xf32>
before %dtable = | %dflat = nn.embedding_backward %ids, %y : (tensor<2x5xi64>, tensor<2x5xf32>) -> tensor<7xf32>
error NN46: expected a table of rank 2 or more, got 'tensor<7xf32>'

// -----

// Rows that are added onto another table.
change "table" | tensor<7x3xf32> => tensor<8x3xf32>
change %rows = | tensor<7x3xf32> => tensor<8x3xf32>
change %dtable = | tensor<7x3xf32>) => tensor<8x3xf32>)
error NN46: expected rows to be added onto 'tensor<7x3xf32>', got 'tensor<8x3xf32>'
