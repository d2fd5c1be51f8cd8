// cuDNN's convolutions on the host. Its lists of algorithms hold some that the backend must not
// take, and the one that it must take wants workspace, which it overwrites.
#include "tests/host-cuda/ConvolutionLoops.h"
#include "tests/host-cuda/HostDnn.h"

#include <array>
#include <cstring>

using namespace syncline;
using namespace syncline::hostcuda;

namespace {

constexpr std::size_t neededWorkspace = 1000;

/// The result's extents by cuDNN's formula, or nothing where channels do not fit.
Shape resultOf(const cudnnConvolutionStruct &conv, const Shape &x, const Shape &w) {
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

bool fits(const cudnnConvolutionStruct &conv, const Shape &x, const Shape &w, const Shape &y) {
  return resultOf(conv, x, w) == y;
}

/// What a list names: a Fourier transform, one whose bits change, one that its math type's
/// workspace query refuses, one that wants more than anybody has, and the one to take.
template <typename Algorithm> struct Known {
  Algorithm fourier, changing, refused, large, good;
};
constexpr Known<cudnnConvolutionFwdAlgo_t> forward{
    CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
    CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM};
constexpr Known<cudnnConvolutionBwdDataAlgo_t> backwardData{
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1};
constexpr Known<cudnnConvolutionBwdFilterAlgo_t> backwardFilter{
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1};

/// All by tensor units, whatever was asked for, and with less workspace than they want otherwise;
/// the last one cannot.
template <typename Performance, typename Algorithm>
cudnnStatus_t list(int requested, int *found, Performance *results, const Known<Algorithm> &all) {
  constexpr auto ok = CUDNN_STATUS_SUCCESS;
  constexpr auto same = CUDNN_DETERMINISTIC;
  constexpr auto math = CUDNN_TENSOR_OP_MATH;
  const std::array<Performance, 6> entries{{
      {all.fourier, ok, 1, 0, same, math, {}},
      {all.changing, ok, 2, 0, CUDNN_NON_DETERMINISTIC, math, {}},
      {all.refused, ok, 3, 0, same, math, {}},
      {all.large, ok, 4, 0, same, math, {}},
      {all.good, ok, 5, 0, same, math, {}},
      {all.good, CUDNN_STATUS_NOT_SUPPORTED, -1, 0, same, CUDNN_FMA_MATH, {}},
  }};
  *found = std::min(requested, static_cast<int>(entries.size()));
  std::copy_n(entries.begin(), *found, results);
  return CUDNN_STATUS_SUCCESS;
}

template <typename Algorithm>
cudnnStatus_t workspaceOf(const Known<Algorithm> &all, Algorithm algorithm, std::size_t *bytes) {
  if (algorithm == all.refused)
    return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  *bytes = algorithm == all.large ? std::size_t{1} << 40 : neededWorkspace;
  return CUDNN_STATUS_SUCCESS;
}

/// Of a call with a convolution's descriptors and factors.
template <typename Algorithm>
bool mayRun(cudnnHandle_t handle, cudnnConvolutionDescriptor_t conv, const Shape &x, const Shape &w,
            const Shape &y, const Known<Algorithm> &all, Algorithm algorithm, const void *workspace,
            std::size_t bytes, const void *alpha, const void *beta) {
  return isReady(handle) && isAccepted(conv) && algorithm == all.good && fits(*conv, x, w, y) &&
         workspace && bytes >= neededWorkspace && replaces(alpha, beta);
}

void convolve(const ConvolutionExtents &e, const float *x, const float *w, const float *bias,
              bool isRectified, float *y) {
  std::vector<double> sums(static_cast<std::size_t>(e.ySize()));
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[static_cast<std::size_t>(yAt + i)] += double{x[xAt + i * stride]} * w[wAt];
  });
  const std::int64_t plane = e.volume(e.y), channels = e.groups * e.outputs;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (bias)
      sums[i] += bias[static_cast<std::int64_t>(i) / plane % channels];
    y[i] = static_cast<float>(isRectified ? std::max(sums[i], 0.0) : sums[i]);
  }
}

void convolveBackwardData(const ConvolutionExtents &e, const float *w, const float *dy, float *dx) {
  std::vector<double> sums(static_cast<std::size_t>(e.xSize()));
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[static_cast<std::size_t>(xAt + i * stride)] += double{dy[yAt + i]} * w[wAt];
  });
  store(sums, dx);
}

void convolveBackwardFilter(const ConvolutionExtents &e, const float *x, const float *dy,
                            float *dw) {
  std::vector<double> sums(static_cast<std::size_t>(e.wSize()));
  forEachProduct(e, [&](auto xAt, auto wAt, auto yAt, auto count, auto stride) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
      sum += double{dy[yAt + i]} * x[xAt + i * stride];
    sums[static_cast<std::size_t>(wAt)] += sum;
  });
  store(sums, dw);
}

} // namespace

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, int requested,
    int *found, cudnnConvolutionFwdAlgoPerf_t *results) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (!fits(*conv, x->dims, w->dims, y->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, forward);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, int requested,
    int *found, cudnnConvolutionBwdDataAlgoPerf_t *results) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (!fits(*conv, dx->dims, w->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, backwardData);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, int requested,
    int *found, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (!fits(*conv, x->dims, dw->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, backwardFilter);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t *bytes) {
  if (!isReady(handle) || !isAccepted(conv) || !fits(*conv, x->dims, w->dims, y->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return workspaceOf(forward, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t *bytes) {
  if (!isReady(handle) || !isAccepted(conv) || !fits(*conv, dx->dims, w->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return workspaceOf(backwardData, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t *bytes) {
  if (!isReady(handle) || !isAccepted(conv) || !fits(*conv, x->dims, dw->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return workspaceOf(backwardFilter, algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      const cudnnTensorDescriptor_t x, const void *xData,
                                      const cudnnFilterDescriptor_t w, const void *wData,
                                      const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      std::size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y, void *yData) {
  if (!mayRun(handle, conv, x->dims, w->dims, y->dims, forward, algorithm, workspace, bytes, alpha,
              beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, x->dims, w->dims, y->dims)] {
    std::memset(workspace, 0xFF, bytes);
    convolve(e, floats(xData), floats(wData), nullptr, false, floats(yData));
  });
}

/// For multiples of 16 channels only, so that the backend's other way runs too.
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x, const void *xData,
    const cudnnFilterDescriptor_t w, const void *wData, const cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace, std::size_t bytes, const void *beta,
    const cudnnTensorDescriptor_t, const void *, const cudnnTensorDescriptor_t biasDesc,
    const void *bias, const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y,
    void *yData) {
  if (w->dims[0] % 16 != 0)
    return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  if (!mayRun(handle, conv, x->dims, w->dims, y->dims, forward, algorithm, workspace, bytes, alpha,
              beta) ||
      activation->mode != CUDNN_ACTIVATION_RELU || biasDesc->dims.size() != y->dims.size())
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, x->dims, w->dims, y->dims)] {
    std::memset(workspace, 0xFF, bytes);
    convolve(e, floats(xData), floats(wData), floats(bias), true, floats(yData));
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w, const void *wData,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           std::size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx, void *dxData) {
  if (!mayRun(handle, conv, dx->dims, w->dims, dy->dims, backwardData, algorithm, workspace, bytes,
              alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, dx->dims, w->dims, dy->dims)] {
    std::memset(workspace, 0xFF, bytes);
    convolveBackwardData(e, floats(wData), floats(dyData), floats(dxData));
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x, const void *xData,
                                             const cudnnTensorDescriptor_t dy, const void *dyData,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, std::size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw, void *dwData) {
  if (!mayRun(handle, conv, x->dims, dw->dims, dy->dims, backwardFilter, algorithm, workspace,
              bytes, alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, x->dims, dw->dims, dy->dims)] {
    std::memset(workspace, 0xFF, bytes);
    convolveBackwardFilter(e, floats(xData), floats(dyData), floats(dwData));
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const void *beta, const cudnnTensorDescriptor_t db,
                                           void *dbData) {
  if (!isReady(handle) || db->dims.size() != dy->dims.size() || db->dims[1] != dy->dims[1] ||
      !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(dy->dims)] {
    for (std::int64_t c = 0; c < planes.channels; ++c) {
      double sum = 0;
      for (std::int64_t o = 0; o < planes.outer; ++o)
        for (std::int64_t i = 0; i < planes.inner; ++i)
          sum += floats(dyData)[planes.at(o, c, i)];
      floats(dbData)[c] = static_cast<float>(sum);
    }
  });
}
