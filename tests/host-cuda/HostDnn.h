// What cuDNN's descriptors hold on the host, and how its calls stand in line.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/core/HalfFloat.h"
#include "tests/host-cuda/Stream.h"

#include <cudnn.h>

#include <string>
#include <utility>
#include <vector>

/// A handle; nothing runs by one that nobody gave a stream.
struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  syncline::Shape dims;
  bool isChannelsLast = false;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
};
/// dims: results, inputs, spatial.., whatever the order.
struct cudnnFilterStruct : cudnnTensorStruct {};
struct cudnnConvolutionStruct {
  syncline::Window window; ///< its kernel is left out
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct cudnnLRNStruct {
  unsigned size = 0;
  double alpha = 0, beta = 0, bias = 0;
};

namespace syncline::hostcuda {

/// What the libraries accept for products: of f32 with all bits or rounded factors, of bf16;
/// nothing where they accept all. A test changes it, and changes it back.
inline std::optional<core::Precision> accepted;

/// Descriptors cannot be made: there is no memory. A test's, likewise.
inline bool isMemoryGone = false;

/// Convolutions by all but one engine take so many microseconds more. A test's, likewise.
inline int slowness = 0;

/// Whether the graph interface has engines (SYNCLINE_HOST_CUDNN_GRAPHS). A test's, likewise.
inline bool hasGraphs = setting("SYNCLINE_HOST_CUDNN_GRAPHS", 1) != 0;

/// While it lives, there are no such engines.
struct WithoutGraphs {
  WithoutGraphs() { hasGraphs = false; }
  WithoutGraphs(const WithoutGraphs &) = delete;
  WithoutGraphs &operator=(const WithoutGraphs &) = delete;
  ~WithoutGraphs() { hasGraphs = before; }
  const bool before = hasGraphs;
};

/// Plans of graphs that were finalized so far, or refused when they were.
inline int triedPlans = 0;

/// What cudnnGetLastErrorString() says.
inline thread_local std::string lastError;

inline bool isReady(cudnnHandle_t handle) { return handle && handle->stream; }
/// Whether a convolution of operands of this type is accepted.
inline bool isAccepted(cudnnConvolutionDescriptor_t conv, cudnnDataType_t type) {
  const auto math = accepted == core::Precision::fp32 ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
  return !accepted || (conv->math == math &&
                       (type == CUDNN_DATA_BFLOAT16) == (accepted == core::Precision::bf16));
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

/// A tensor's elements as floats in row-major order, whatever its layout.
class Elements {
public:
  explicit Elements(const cudnnTensorStruct &tensor) : tensor(tensor), planes(tensor.dims) {}

  std::vector<float> load(const void *data) const {
    std::vector<float> values(static_cast<std::size_t>(planes.size()));
    forEach([&](std::size_t dense, std::size_t at) {
      values[dense] = isRounded()
                          ? core::floatFromBf16(static_cast<const std::uint16_t *>(data)[at])
                          : floats(data)[at];
    });
    return values;
  }
  void store(const std::vector<float> &values, void *data) const {
    forEach([&](std::size_t dense, std::size_t at) {
      if (isRounded())
        static_cast<std::uint16_t *>(data)[at] = core::bf16FromFloat(values[dense]);
      else
        floats(data)[at] = values[dense];
    });
  }
  std::vector<float> zeros() const {
    return std::vector<float>(static_cast<std::size_t>(planes.size()));
  }

private:
  bool isRounded() const { return tensor.type == CUDNN_DATA_BFLOAT16; }
  template <typename F> void forEach(const F &body) const {
    for (std::int64_t o = 0; o < planes.outer; ++o)
      for (std::int64_t c = 0; c < planes.channels; ++c)
        for (std::int64_t i = 0; i < planes.inner; ++i) {
          const std::int64_t last = (o * planes.inner + i) * planes.channels + c;
          body(static_cast<std::size_t>(planes.at(o, c, i)),
               static_cast<std::size_t>(tensor.isChannelsLast ? last : planes.at(o, c, i)));
        }
  }

  cudnnTensorStruct tensor;
  Planes planes;
};

/// Sums in double become floats.
inline void store(const std::vector<double> &values, float *to) {
  for (std::size_t i = 0; i < values.size(); ++i)
    to[i] = static_cast<float>(values[i]);
}

} // namespace syncline::hostcuda
