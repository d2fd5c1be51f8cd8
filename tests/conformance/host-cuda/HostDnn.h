// What cuDNN's descriptors hold on the host, and tensors by them.
#pragma once

#include "runtime/core/Executable.h"
#include "tests/conformance/References.h"

#include <cudnn.h>

#include <vector>

/// A handle; nothing runs by one that nobody gave a stream.
struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  syncline::Shape dims;
};
struct cudnnFilterStruct {
  syncline::Shape dims;
};
struct cudnnConvolutionStruct {
  syncline::Window window; ///< its kernel is left out
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct cudnnLRNStruct {
  unsigned size = 0;
  double alpha = 0, beta = 0, bias = 0;
};
struct cudnnActivationStruct {
  cudnnActivationMode_t mode = CUDNN_ACTIVATION_IDENTITY;
};

namespace syncline::conformance {

/// What the libraries accept for products of f32: with all bits, or of rounded factors. A test
/// changes it, and changes it back.
inline Precision accepted = Precision::fp32;

/// Descriptors cannot be made: there is no memory. A test's, likewise.
inline bool isMemoryGone = false;

inline bool isReady(cudnnHandle_t handle) { return handle && handle->stream; }
inline bool isAccepted(cudnnConvolutionDescriptor_t conv) {
  return conv->math == (accepted == Precision::fp32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
}

inline Array read(const Shape &dims, const void *data) {
  Array array(dims);
  const auto *from = static_cast<const float *>(data);
  array.values.assign(from, from + array.size());
  return array;
}

/// By factors of the new and of the old values, which the backend always has 1 and 0.
inline cudnnStatus_t write(const Array &array, const void *alpha, const void *beta, void *data) {
  if (*static_cast<const float *>(alpha) != 1 || *static_cast<const float *>(beta) != 0)
    return CUDNN_STATUS_NOT_SUPPORTED;
  for (std::size_t i = 0; i < array.values.size(); ++i)
    static_cast<float *>(data)[i] = static_cast<float>(array.values[i]);
  return CUDNN_STATUS_SUCCESS;
}

} // namespace syncline::conformance
