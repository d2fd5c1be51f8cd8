// What cuDNN's convolutions compute on the host, by either of its interfaces.
#pragma once

#include "tests/host-cuda/ConvolutionLoops.h"
#include "tests/host-cuda/HostDnn.h"

#include <chrono>
#include <cstring>
#include <thread>

namespace syncline::hostcuda {

/// The result's extents by cuDNN's formula, or nothing where channels do not fit.
inline Shape resultOf(const cudnnConvolutionStruct &conv, const Shape &x, const Shape &w) {
  const Window &window = conv.window;
  if (x.size() != w.size() || x.size() != window.strides.size() + 2 ||
      x[1] != w[1] * window.groups || w[0] % window.groups != 0)
    return {};
  Shape y{x[0], w[0]};
  for (std::size_t i = 0; i < window.strides.size(); ++i) {
    const std::int64_t extent = (w[i + 2] - 1) * window.dilations[i] + 1;
    y.push_back((x[i + 2] + 2 * window.padsBegin[i] - extent) / window.strides[i] + 1);
  }
  return y;
}

/// Whether there is a kernel: as if there were fewer, so that the backend's next choices run too.
inline bool hasKernel(const Shape &dilations, const cudnnTensorStruct &x,
                      const cudnnTensorStruct &w) {
  const bool isDilated = *std::max_element(dilations.begin(), dilations.end()) > 1;
  return !(w.isChannelsLast && isDilated) && !(x.type == CUDNN_DATA_BFLOAT16 && x.dims.size() == 5);
}

/// Whether the tensors have one order. Extents that make both orders one leave open which it is.
inline bool haveOneOrder(const cudnnTensorStruct &x, const cudnnTensorStruct &w,
                         const cudnnTensorStruct &y) {
  const auto isOrdered = [&](const cudnnTensorStruct &tensor) {
    const Shape &dims = tensor.dims;
    return dims[1] == 1 || core::elementCount(dims) == dims[0] * dims[1] ||
           tensor.isChannelsLast == w.isChannelsLast;
  };
  return isOrdered(x) && isOrdered(y);
}

/// The time that an algorithm takes beside its sums. It spoils its workspace.
inline void work(bool isSlow, void *workspace, std::size_t bytes) {
  std::memset(workspace, 0xFF, bytes);
  if (isSlow && slowness > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(slowness));
}

inline std::size_t place(std::int64_t at) { return static_cast<std::size_t>(at); }

inline void convolve(const ConvolutionExtents &e, const std::vector<float> &x,
                     const std::vector<float> &w, std::vector<float> &y) {
  std::vector<double> sums(y.size());
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[place(yAt + i)] += double{x[place(xAt + i * stride)]} * w[place(wAt)];
  });
  store(sums, y.data());
}

inline void convolveBackwardData(const ConvolutionExtents &e, const std::vector<float> &w,
                                 const std::vector<float> &dy, std::vector<float> &dx) {
  std::vector<double> sums(dx.size());
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[place(xAt + i * stride)] += double{dy[place(yAt + i)]} * w[place(wAt)];
  });
  store(sums, dx.data());
}

inline void convolveBackwardFilter(const ConvolutionExtents &e, const std::vector<float> &x,
                                   const std::vector<float> &dy, std::vector<float> &dw) {
  std::vector<double> sums(dw.size());
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
      sum += double{dy[place(yAt + i)]} * x[place(xAt + i * stride)];
    sums[place(wAt)] += sum;
  });
  store(sums, dw.data());
}

} // namespace syncline::hostcuda
