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

/// Fills a list: a Fourier transform, one whose bits change, one that wants more than anybody has,
/// the good one, and one that cannot.
template <typename Performance, typename Algorithm>
cudnnStatus_t list(int requested, int *found, Performance *results, Algorithm fourier,
                   Algorithm changing, Algorithm good) {
  const std::array<Performance, 5> all{{
      {fourier, CUDNN_STATUS_SUCCESS, 1, 0, CUDNN_DETERMINISTIC, CUDNN_FMA_MATH, {}},
      {changing, CUDNN_STATUS_SUCCESS, 2, 0, CUDNN_NON_DETERMINISTIC, CUDNN_FMA_MATH, {}},
      {good,
       CUDNN_STATUS_SUCCESS,
       3,
       std::size_t{1} << 40,
       CUDNN_DETERMINISTIC,
       CUDNN_FMA_MATH,
       {}},
      {good, CUDNN_STATUS_SUCCESS, 4, neededWorkspace, CUDNN_DETERMINISTIC, CUDNN_FMA_MATH, {}},
      {good, CUDNN_STATUS_NOT_SUPPORTED, -1, 0, CUDNN_DETERMINISTIC, CUDNN_FMA_MATH, {}},
  }};
  *found = std::min(requested, static_cast<int>(all.size()));
  std::copy_n(all.begin(), *found, results);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t takeWorkspace(void *workspace, std::size_t bytes) {
  if (bytes < neededWorkspace || !workspace)
    return CUDNN_STATUS_BAD_PARAM;
  std::memset(workspace, 0xFF, bytes);
  return CUDNN_STATUS_SUCCESS;
}

constexpr auto goodForward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
constexpr auto goodData = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
constexpr auto goodFilter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;

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

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t conv,
                                                     const cudnnTensorDescriptor_t y, int requested,
                                                     int *found,
                                                     cudnnConvolutionFwdAlgoPerf_t *results) {
  if (!fits(*conv, x->dims, w->dims, y->dims) || conv->math != CUDNN_FMA_MATH)
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, CUDNN_CONVOLUTION_FWD_ALGO_FFT,
              CUDNN_CONVOLUTION_FWD_ALGO_GEMM, goodForward);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, int requested,
    int *found, cudnnConvolutionBwdDataAlgoPerf_t *results) {
  if (!fits(*conv, dx->dims, w->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT,
              CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, goodData);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, int requested,
    int *found, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  if (!fits(*conv, x->dims, dw->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  return list(requested, found, results, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, goodFilter);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void *alpha,
                                      const cudnnTensorDescriptor_t x, const void *xData,
                                      const cudnnFilterDescriptor_t w, const void *wData,
                                      const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      std::size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y, void *yData) {
  if (algorithm != goodForward || !fits(*conv, x->dims, w->dims, y->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConv(read(x->dims, xData), read(w->dims, wData), {}, conv->window, y->dims),
               alpha, beta, yData);
}

/// Without groups only, so that the backend's other way runs too.
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t, const void *alpha, const cudnnTensorDescriptor_t x, const void *xData,
    const cudnnFilterDescriptor_t w, const void *wData, const cudnnConvolutionDescriptor_t conv,
    cudnnConvolutionFwdAlgo_t algorithm, void *workspace, std::size_t bytes, const void *beta,
    const cudnnTensorDescriptor_t, const void *, const cudnnTensorDescriptor_t biasDesc,
    const void *bias, const cudnnActivationDescriptor_t activation, const cudnnTensorDescriptor_t y,
    void *yData) {
  if (w->dims[0] % 16 != 0)
    return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  if (algorithm != goodForward || activation->mode != CUDNN_ACTIVATION_RELU ||
      !fits(*conv, x->dims, w->dims, y->dims) || biasDesc->dims.size() != y->dims.size())
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceRelu(referenceConv(read(x->dims, xData), read(w->dims, wData),
                                           biasOf(biasDesc, bias), conv->window, y->dims)),
               alpha, beta, yData);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void *alpha,
                                           const cudnnFilterDescriptor_t w, const void *wData,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           std::size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx, void *dxData) {
  if (algorithm != goodData || !fits(*conv, dx->dims, w->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConvBackward(Array(dx->dims), read(w->dims, wData), read(dy->dims, dyData),
                                     conv->window)
                   .dx,
               alpha, beta, dxData);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void *alpha,
                                             const cudnnTensorDescriptor_t x, const void *xData,
                                             const cudnnTensorDescriptor_t dy, const void *dyData,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, std::size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw, void *dwData) {
  if (algorithm != goodFilter || !fits(*conv, x->dims, dw->dims, dy->dims))
    return CUDNN_STATUS_BAD_PARAM;
  if (cudnnStatus_t status = takeWorkspace(workspace, bytes))
    return status;
  return write(referenceConvBackward(read(x->dims, xData), Array(dw->dims), read(dy->dims, dyData),
                                     conv->window)
                   .dw,
               alpha, beta, dwData);
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t, const void *alpha,
                                           const cudnnTensorDescriptor_t dy, const void *dyData,
                                           const void *beta, const cudnnTensorDescriptor_t db,
                                           void *dbData) {
  if (db->dims.size() != dy->dims.size() || db->dims[1] != dy->dims[1])
    return CUDNN_STATUS_BAD_PARAM;
  const Array gradient = read(dy->dims, dyData);
  Array sums({dy->dims[1]});
  forEachIndex(gradient.shape, [&](const Shape &at) { sums[{at[1]}] += gradient[at]; });
  return write(sums, alpha, beta, dbData);
}
