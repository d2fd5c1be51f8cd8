// What the verifiers of operations that go by indices refuse.
// RUN: syncline-opt -split-input-file -verify-diagnostics %patched

// Base: One of each.
nn.step @s batch 2 {
  %x = nn.input "x" : tensor<2x3x7xf32>
  %ids = nn.input "ids" : tensor<2x5xi64>
  %taken = nn.gather_rows %x, %ids {axis = 2 : i64, shared = 1 : i64} : (tensor<2x3x7xf32>, tensor<2x5xi64>) -> tensor<2x3x5xf32>
  %put = nn.scatter_rows %taken, %ids onto %x {axis = 2 : i64, kind = 1 : i64, shared = 1 : i64} : (tensor<2x3x5xf32>, tensor<2x5xi64>, tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  %best, %places = nn.top_k %x {largest} : (tensor<2x3x7xf32>) -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>)
}

// -----

// Indices of bytes.
drop %put =
change "ids" | tensor<2x5xi64> => tensor<2x5xui8>
change %taken = | tensor<2x5xi64> => tensor<2x5xui8>
error NN47: expected indices of i64 or floating point, got 'tensor<2x5xui8>'

// -----

// An axis beyond the rank.
change %taken = | axis = 2 => axis = 3
error NN47: expected an axis within 2x3x7 and indices that share the first 1 dimensions, got axis 3 and 2x5

// -----

// Indices share dimensions behind the axis.
change %taken = | axis = 2 : i64, shared = 1 => axis = 0 : i64, shared = 1
error NN47: expected an axis within 2x3x7 and indices that share the first 1 dimensions, got axis 0 and 2x5

// -----

// Indices have other dimensions than x.
change %taken = | shared = 1 => shared = 2
error NN47: expected an axis within 2x3x7 and indices that share the first 2 dimensions, got axis 2 and 2x5

// -----

// Entries of another axis.
drop %put =
change %taken = | -> tensor<2x3x5xf32> => -> tensor<2x5x7xf32>
error NN47: expected entries of shape 2x3x5, got 2x5x7

// -----

// A kind that does not exist.
change %put = | kind = 1 => kind = 5
error NN47: expected a kind from 0 to 4, got 5

// -----

// Updates of another tensor's shape.
change %put = | onto %x => onto %taken
change %put = | tensor<2x5xi64>, tensor<2x3x7xf32>) => tensor<2x5xi64>, tensor<2x3x5xf32>)
error NN47: expected updates of 'tensor<2x3x7xf32>', got 'tensor<2x3x5xf32>'

// -----

// More elements than there are.
change %best, | (tensor<2x3x2xf32>, tensor<2x3x2xf32>) => (tensor<2x3x8xf32>, tensor<2x3x8xf32>)
error NN48: expected results of 1 to 7 entries of the last dimension, got 'tensor<2x3x8xf32>' and 'tensor<2x3x8xf32>'

// -----

// Places of fewer elements than values.
change %best, | (tensor<2x3x2xf32>, tensor<2x3x2xf32>) => (tensor<2x3x2xf32>, tensor<2x3x1xf32>)
error NN48: expected results of 1 to 7 entries of the last dimension, got 'tensor<2x3x2xf32>' and 'tensor<2x3x1xf32>'
