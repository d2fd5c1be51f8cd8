// cuDNN's convolutions on the host. Its lists of algorithms hold some that the backend must not
// take, and the one that it must take wants workspace, which it overwrites.
#include "tests/host-cuda/HostConvolution.h"

#include <array>

using namespace syncline;
using namespace syncline::hostcuda;

namespace {

constexpr std::size_t neededWorkspace = 1000, quickWorkspace = 5000;

/// For what the backend must not ask. cuDNN would say BAD_PARAM, after which the backend tries the
/// next algorithm or layout, and a test would not see the fault.
constexpr cudnnStatus_t misuse = CUDNN_STATUS_NOT_INITIALIZED;

/// A convolution's descriptors: success where there is a kernel for them.
cudnnStatus_t judge(cudnnHandle_t handle, cudnnConvolutionDescriptor_t conv,
                    const cudnnTensorStruct &x, const cudnnFilterStruct &w,
                    const cudnnTensorStruct &y) {
  if (!isReady(handle) || !isAccepted(conv, x.type) || resultOf(*conv, x.dims, w.dims) != y.dims ||
      x.type != w.type || x.type != y.type || !haveOneOrder(x, w, y))
    return misuse;
  if (hasKernel(conv->window.dilations, x, w))
    return CUDNN_STATUS_SUCCESS;
  // cuDNN does not keep to NOT_SUPPORTED: a missing part is told in several ways.
  return x.type == CUDNN_DATA_BFLOAT16 ? CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED
                                       : CUDNN_STATUS_BAD_PARAM;
}

/// What a list names: a Fourier transform, one whose bits change, one that its math type's
/// workspace query refuses, one that wants more than anybody has, one that refuses to run, and the
/// one to take. A quicker one stands behind it, which wants more workspace.
/// The statuses are those of the third and the fifth.
template <typename Algorithm> struct Known {
  Algorithm fourier, changing, refused, large, late, good, quick;
  cudnnStatus_t unmeasured, unrunnable;
};
constexpr Known<cudnnConvolutionFwdAlgo_t> forward{CUDNN_CONVOLUTION_FWD_ALGO_FFT,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_DIRECT,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                                                   CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
                                                   CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH};
constexpr Known<cudnnConvolutionBwdDataAlgo_t> backwardData{
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, // there is no other algorithm
    CUDNN_STATUS_BAD_PARAM,
    CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED};
constexpr Known<cudnnConvolutionBwdFilterAlgo_t> backwardFilter{
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3,
    CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED,
    CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED};

/// All by tensor units, whatever was asked for, and with less workspace than they want otherwise;
/// the last one cannot.
template <typename Performance, typename Algorithm>
cudnnStatus_t list(int requested, int *found, Performance *results, const Known<Algorithm> &all) {
  constexpr auto ok = CUDNN_STATUS_SUCCESS;
  constexpr auto same = CUDNN_DETERMINISTIC;
  constexpr auto math = CUDNN_TENSOR_OP_MATH;
  const std::array<Performance, 8> entries{{
      {all.fourier, ok, 1, 0, same, math, {}},
      {all.changing, ok, 2, 0, CUDNN_NON_DETERMINISTIC, math, {}},
      {all.refused, ok, 3, 0, same, math, {}},
      {all.large, ok, 4, 0, same, math, {}},
      {all.late, ok, 5, 0, same, math, {}},
      {all.good, ok, 6, 0, same, math, {}},
      {all.quick, all.quick == all.good ? CUDNN_STATUS_NOT_SUPPORTED : ok, 7, 0, same, math, {}},
      {all.good, CUDNN_STATUS_NOT_SUPPORTED, -1, 0, same, CUDNN_FMA_MATH, {}},
  }};
  *found = std::min(requested, static_cast<int>(entries.size()));
  std::copy_n(entries.begin(), *found, results);
  return CUDNN_STATUS_SUCCESS;
}

template <typename Algorithm>
cudnnStatus_t workspaceOf(const Known<Algorithm> &all, Algorithm algorithm, std::size_t *bytes) {
  if (algorithm == all.refused)
    return all.unmeasured;
  *bytes = algorithm == all.large   ? std::size_t{1} << 40
           : algorithm == all.good  ? neededWorkspace
           : algorithm == all.quick ? quickWorkspace
                                    : 0;
  return CUDNN_STATUS_SUCCESS;
}

/// Checks a call with a convolution's descriptors and factors: success where it can run.
template <typename Algorithm>
cudnnStatus_t mayRun(cudnnHandle_t handle, cudnnConvolutionDescriptor_t conv,
                     const cudnnTensorStruct &x, const cudnnFilterStruct &w,
                     const cudnnTensorStruct &y, const Known<Algorithm> &all, Algorithm algorithm,
                     const void *workspace, std::size_t bytes, const void *alpha,
                     const void *beta) {
  if (judge(handle, conv, x, w, y) != CUDNN_STATUS_SUCCESS || !replaces(alpha, beta))
    return misuse;
  if (algorithm == all.late)
    return all.unrunnable;
  const bool isKnown = algorithm == all.good || algorithm == all.quick;
  const std::size_t needed = algorithm == all.good ? neededWorkspace : quickWorkspace;
  return isKnown && workspace && bytes >= needed ? CUDNN_STATUS_SUCCESS : misuse;
}

} // namespace

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, int requested,
    int *found, cudnnConvolutionFwdAlgoPerf_t *results) {
  const cudnnStatus_t status = judge(handle, conv, *x, *w, *y);
  return status ? status : list(requested, found, results, forward);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, int requested,
    int *found, cudnnConvolutionBwdDataAlgoPerf_t *results) {
  const cudnnStatus_t status = judge(handle, conv, *dx, *w, *dy);
  return status ? status : list(requested, found, results, backwardData);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, int requested,
    int *found, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  const cudnnStatus_t status = judge(handle, conv, *x, *dw, *dy);
  return status ? status : list(requested, found, results, backwardFilter);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, std::size_t *bytes) {
  const cudnnStatus_t status = judge(handle, conv, *x, *w, *y);
  return status ? status : workspaceOf(forward, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t *bytes) {
  const cudnnStatus_t status = judge(handle, conv, *dx, *w, *dy);
  return status ? status : workspaceOf(backwardData, algorithm, bytes);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t *bytes) {
  const cudnnStatus_t status = judge(handle, conv, *x, *dw, *dy);
  return status ? status : workspaceOf(backwardFilter, algorithm, bytes);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      const cudnnTensorDescriptor_t x, const void *xData,
                                      const cudnnFilterDescriptor_t w, const void *wData,
                                      const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      std::size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y, void *yData) {
  if (cudnnStatus_t status =
          mayRun(handle, conv, *x, *w, *y, forward, algorithm, workspace, bytes, alpha, beta))
    return status;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, x->dims, w->dims, y->dims),
                          xs = Elements(*x), ws = Elements(*w), ys = Elements(*y)] {
    work(hasGraphs || algorithm == forward.good, workspace, bytes);
    std::vector<float> result = ys.zeros();
    convolve(e, xs.load(xData), ws.load(wData), result);
    ys.store(result, yData);
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w, const void *wData,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           std::size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx, void *dxData) {
  if (cudnnStatus_t status = mayRun(handle, conv, *dx, *w, *dy, backwardData, algorithm, workspace,
                                    bytes, alpha, beta))
    return status;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, dx->dims, w->dims, dy->dims),
                          ws = Elements(*w), dys = Elements(*dy), dxs = Elements(*dx)] {
    work(hasGraphs || algorithm == backwardData.good, workspace, bytes);
    std::vector<float> result = dxs.zeros();
    convolveBackwardData(e, ws.load(wData), dys.load(dyData), result);
    dxs.store(result, dxData);
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x, const void *xData,
                                             const cudnnTensorDescriptor_t dy, const void *dyData,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, std::size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw, void *dwData) {
  if (cudnnStatus_t status = mayRun(handle, conv, *x, *dw, *dy, backwardFilter, algorithm,
                                    workspace, bytes, alpha, beta))
    return status;
  return enqueue(handle, [=, e = ConvolutionExtents(conv->window, x->dims, dw->dims, dy->dims),
                          xs = Elements(*x), dys = Elements(*dy), dws = Elements(*dw)] {
    work(hasGraphs || algorithm == backwardFilter.good, workspace, bytes);
    std::vector<float> result = dws.zeros();
    convolveBackwardFilter(e, xs.load(xData), dys.load(dyData), result);
    dws.store(result, dwData);
  });
}
