// What cuDNN's descriptors hold on the host, and how its calls stand in line.
#pragma once

#include "runtime/core/Executable.h"
#include "tests/host-cuda/Stream.h"

#include <cudnn.h>

#include <utility>
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

namespace syncline::hostcuda {

/// What the libraries accept for products of f32: with all bits, or of rounded factors; nothing
/// where they accept both. A test changes it, and changes it back.
inline std::optional<Precision> accepted;

/// Descriptors cannot be made: there is no memory. A test's, likewise.
inline bool isMemoryGone = false;

inline bool isReady(cudnnHandle_t handle) { return handle && handle->stream; }
inline bool isAccepted(cudnnConvolutionDescriptor_t conv) {
  return !accepted ||
         conv->math == (*accepted == Precision::fp32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
}

/// Factors of the new and of the old values, which the backend always has 1 and 0.
inline bool replaces(const void *alpha, const void *beta) {
  return *static_cast<const float *>(alpha) == 1 && *static_cast<const float *>(beta) == 0;
}

inline cudnnStatus_t enqueue(cudnnHandle_t handle, Work work) {
  return enqueue(handle->stream, std::move(work)) == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                                                 : CUDNN_STATUS_EXECUTION_FAILED;
}

inline const float *floats(const void *data) { return static_cast<const float *>(data); }
inline float *floats(void *data) { return static_cast<float *>(data); }

/// A tensor as [outer, channels, inner].
struct Planes {
  explicit Planes(const Shape &dims) : outer(dims[0]), channels(dims[1]) {
    for (std::size_t d = 2; d < dims.size(); ++d)
      inner *= dims[d];
  }
  std::int64_t at(std::int64_t o, std::int64_t c, std::int64_t i) const {
    return (o * channels + c) * inner + i;
  }
  std::int64_t size() const { return outer * channels * inner; }
  std::int64_t outer, channels, inner = 1;
};

/// Sums in double become floats.
inline void store(const std::vector<double> &values, float *to) {
  for (std::size_t i = 0; i < values.size(); ++i)
    to[i] = static_cast<float>(values[i]);
}

} // namespace syncline::hostcuda
