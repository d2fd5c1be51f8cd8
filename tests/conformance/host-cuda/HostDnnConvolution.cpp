// cuDNN's convolutions on the host. Its lists of algorithms hold some that the backend must not
// take, and the one that it must take wants workspace, which it overwrites.
#include "tests/conformance/host-cuda/HostDnn.h"

#include <array>
#include <cstring>

using namespace syncline;
using namespace syncline::conformance;

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

cudnnStatus_t takeWorkspace(void *workspace, std::size_t bytes) {
  if (bytes < neededWorkspace || !workspace)
    return CUDNN_STATUS_BAD_PARAM;
  std::memset(workspace, 0xFF, bytes);
  return CUDNN_STATUS_SUCCESS;
}

Array biasOf(cudnnTensorDescriptor_t desc, const void *data) { return read({desc->dims[1]}, data); }

} // namespace

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *desc) {
  *desc = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t desc, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int dims[]) {
  if (type != CUDNN_DATA_FLOAT || format != CUDNN_TENSOR_NCHW || rank < 4)
    return CUDNN_STATUS_BAD_PARAM;
  desc->dims.assign(dims, dims + rank);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *desc) {
  *desc = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t desc, int spatial,
                                              const int pads[], const int strides[],
                                              const int dilations[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  if (mode != CUDNN_CROSS_CORRELATION || type != CUDNN_DATA_FLOAT || spatial < 2)
    return CUDNN_STATUS_BAD_PARAM;
  desc->window.padsBegin.assign(pads, pads + spatial);
  desc->window.padsEnd = desc->window.padsBegin;
  desc->window.strides.assign(strides, strides + spatial);
  desc->window.dilations.assign(dilations, dilations + spatial);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc, int groups) {
  desc->window.groups = groups;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t desc, cudnnMathType_t math) {
  desc->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t *desc) {
  *desc = new cudnnActivationStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t desc,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t,
                                           double) {
  desc->mode = mode;
  return CUDNN_STATUS_SUCCESS;
}

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
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (algorithm != forward.good || !fits(*conv, x->dims, w->dims, y->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConv(read(x->dims, xData), read(w->dims, wData), {}, conv->window, y->dims),
               alpha, beta, yData);
}

/// For multiples of 16 channels only, so that the backend's other way runs too.
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x, const void *xData,
    const cudnnFilterDescriptor_t w, const void *wData, const cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace, std::size_t bytes, const void *beta,
    const cudnnTensorDescriptor_t, const void *, const cudnnTensorDescriptor_t biasDesc,
    const void *bias, const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y,
    void *yData) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (w->dims[0] % 16 != 0)
    return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  if (algorithm != forward.good || activation->mode != CUDNN_ACTIVATION_RELU ||
      !fits(*conv, x->dims, w->dims, y->dims) || biasDesc->dims.size() != y->dims.size())
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceRelu(referenceConv(read(x->dims, xData), read(w->dims, wData),
                                           biasOf(biasDesc, bias), conv->window, y->dims)),
               alpha, beta, yData);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w, const void *wData,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           std::size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx, void *dxData) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (algorithm != backwardData.good || !fits(*conv, dx->dims, w->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConvBackward(Array(dx->dims), read(w->dims, wData), read(dy->dims, dyData),
                                     conv->window)
                   .dx,
               alpha, beta, dxData);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x, const void *xData,
                                             const cudnnTensorDescriptor_t dy, const void *dyData,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, std::size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw, void *dwData) {
  if (!isReady(handle) || !isAccepted(conv))
    return CUDNN_STATUS_BAD_PARAM;
  if (algorithm != backwardFilter.good || !fits(*conv, x->dims, dw->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConvBackward(read(x->dims, xData), Array(dw->dims), read(dy->dims, dyData),
                                     conv->window)
                   .dw,
               alpha, beta, dwData);
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void *alpha,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const void *beta, const cudnnTensorDescriptor_t db,
                                           void *dbData) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  if (db->dims.size() != dy->dims.size() || db->dims[1] != dy->dims[1])
    return CUDNN_STATUS_BAD_PARAM;
  const Array gradient = read(dy->dims, dyData);
  Array sums({dy->dims[1]});
  forEachIndex(gradient.shape, [&](const Shape &at) { sums[{at[1]}] += gradient[at]; });
  return write(sums, alpha, beta, dbData);
}
