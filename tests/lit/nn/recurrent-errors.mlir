// What the verifiers of recurrent layers refuse.
// RUN: syncline-opt -split-input-file -verify-diagnostics %patched

// Base: A layer of LSTM over 3 steps of 2 samples, with 4 elements a state.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<3x2x16xf32>
  %n = nn.input "n" : tensor<2xi64>
  %r = nn.parameter "r" at 0 : tensor<1x16x4xf32>
  %b = nn.parameter "b" at 256 : tensor<1x32xf32>
  %s = nn.input "s" : tensor<2x1x2x4xf32>
  %y, %last, %saved = nn.recurrent %x, %r, %b, %s lengths %n {cell = 0 : i64, reverse} : (tensor<3x2x16xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, tensor<2x1x2x4xf32>, tensor<2xi64>) -> (tensor<3x2x4xf32>, tensor<2x1x2x4xf32>, tensor<1x3x2x24xf32>)
  %dx, %dr, %db, %ds = nn.recurrent_backward %r, %s, %saved, %y, %last lengths %n {cell = 0 : i64, reverse} : (tensor<1x16x4xf32>, tensor<2x1x2x4xf32>, tensor<1x3x2x24xf32>, tensor<3x2x4xf32>, tensor<2x1x2x4xf32>, tensor<2xi64>) -> (tensor<3x2x16xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, tensor<2x1x2x4xf32>)
}

// -----

// A cell that there is not.
change %saved = | cell = 0 => cell = 5
error NN23: expected a cell from 0 to 4, got 5

// -----

// A cell of other gates.
change %saved = | cell = 0 => cell = 1
error NN23: expected r of one or two directions, 3 gates of as many rows as it has columns, got 1x16x4

// -----

// Lengths in floating point.
change "n" : | tensor<2xi64> => tensor<2xf32>
change %dx, | tensor<2xi64> => tensor<2xf32>
change %saved = | tensor<2xi64> => tensor<2xf32>
error NN23: expected lengths of i64

// -----

// Outputs of another size.
change %dx, | tensor<3x2x4xf32> => tensor<3x2x8xf32>
change %saved = | -> (tensor<3x2x4xf32> => -> (tensor<3x2x8xf32>
error NN23: expected y of shape 3x2x4, got 3x2x8

// -----

// A bias of the inputs' products alone.
change "b" at | tensor<1x32xf32> => tensor<1x16xf32>
change %saved = | tensor<1x32xf32> => tensor<1x16xf32>
error NN23: expected a bias of shape 1x32, got 1x16

// -----

// Gradients of other inputs.
change %dx, | -> (tensor<3x2x16xf32> => -> (tensor<3x2x12xf32>
error NN23: expected x of shape 3x2x16, got 3x2x12
