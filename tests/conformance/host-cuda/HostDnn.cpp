// cuDNN's handles, descriptors, normalizations and softmax on the host, by its documentation, with
// the references of the suite.
#include "tests/conformance/host-cuda/HostDnn.h"

#include <cmath>
#include <cstring>
#include <new>

using namespace syncline;
using namespace syncline::conformance;

namespace {

/// Dense row-major strides only, of 4 to 8 dimensions, as cuDNN takes them.
bool isDense(int rank, const int *dims, const int *strides) {
  std::int64_t stride = 1;
  for (int d = rank; d-- > 0; stride *= dims[d])
    if (strides[d] != stride)
      return false;
  return rank >= 4 && rank <= 8;
}

bool isChannels(cudnnTensorDescriptor_t desc, std::int64_t channels) {
  return desc->dims == Shape{1, channels, 1, 1};
}

} // namespace

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return stream ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
const char *cudnnGetErrorString(cudnnStatus_t) { return "an error of the host's cuDNN"; }
void cudnnGetLastErrorString(char *message, std::size_t) { message[0] = 0; }

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *desc) {
  if (isMemoryGone)
    throw std::bad_alloc();
  *desc = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t desc, cudnnDataType_t type,
                                         int rank, const int dims[], const int strides[]) {
  if (type != CUDNN_DATA_FLOAT || !isDense(rank, dims, strides))
    return CUDNN_STATUS_BAD_PARAM;
  desc->dims.assign(dims, dims + rank);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t *desc) {
  *desc = new cudnnLRNStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t desc) {
  delete desc;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t desc, unsigned size, double alpha,
                                    double beta, double bias) {
  *desc = {size, alpha, beta, bias};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *xData, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t channels, const void *scale, const void *shift,
    double factor, void *runningMean, void *runningVariance, double epsilon, void *savedMean,
    void *savedInverse) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  const std::int64_t count = xDesc->dims[1];
  if (mode != CUDNN_BATCHNORM_SPATIAL || yDesc->dims != xDesc->dims ||
      !isChannels(channels, count) || !runningMean != !runningVariance)
    return CUDNN_STATUS_BAD_PARAM;
  const Array x = read(xDesc->dims, xData);
  const Array mean = channelMean(x), variance = channelVariance(x);
  const double n = static_cast<double>(x.size() / count);
  for (std::int64_t c = 0; c < count; ++c) {
    static_cast<float *>(savedMean)[c] = static_cast<float>(mean[{c}]);
    static_cast<float *>(savedInverse)[c] =
        static_cast<float>(1 / std::sqrt(variance[{c}] + epsilon));
    if (!runningMean)
      continue;
    auto blend = [&](void *running, double value) {
      float &old = static_cast<float *>(running)[c];
      old = static_cast<float>((1 - factor) * old + factor * value);
    };
    blend(runningMean, mean[{c}]);
    blend(runningVariance, variance[{c}] * n / (n - 1));
  }
  return write(referenceBatchNorm(x, read({count}, scale), read({count}, shift), epsilon), alpha,
               beta, y);
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const void *alphaScale, const void *betaScale, const cudnnTensorDescriptor_t xDesc,
    const void *xData, const cudnnTensorDescriptor_t dyDesc, const void *dyData,
    const cudnnTensorDescriptor_t dxDesc, void *dxData, const cudnnTensorDescriptor_t channels,
    const void *scaleData, void *dscaleData, void *dshiftData, double, const void *savedMean,
    const void *savedInverse) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  const std::int64_t count = xDesc->dims[1];
  if (mode != CUDNN_BATCHNORM_SPATIAL || dyDesc->dims != xDesc->dims ||
      dxDesc->dims != xDesc->dims || !isChannels(channels, count))
    return CUDNN_STATUS_BAD_PARAM;
  const Array x = read(xDesc->dims, xData), dy = read(xDesc->dims, dyData);
  const Array scale = read({count}, scaleData), mean = read({count}, savedMean);
  const Array inverse = read({count}, savedInverse);
  Array dscale({count}), dshift({count}), dx(x.shape);
  forEachIndex(x.shape, [&](const Shape &at) {
    const Shape c{at[1]};
    dscale[c] += dy[at] * (x[at] - mean[c]) * inverse[c];
    dshift[c] += dy[at];
  });
  const double n = static_cast<double>(x.size() / count);
  forEachIndex(x.shape, [&](const Shape &at) {
    const Shape c{at[1]};
    const double normal = (x[at] - mean[c]) * inverse[c];
    dx[at] = scale[c] * inverse[c] * (dy[at] - dshift[c] / n - normal * dscale[c] / n);
  });
  for (const auto &[array, place] : {std::pair(&dscale, dscaleData), {&dshift, dshiftData}})
    if (cudnnStatus_t status = write(*array, alphaScale, betaScale, place))
      return status;
  return write(dx, alpha, beta, dxData);
}

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn,
                                          cudnnLRNMode_t, const void *alpha,
                                          const cudnnTensorDescriptor_t xDesc, const void *x,
                                          const void *beta, const cudnnTensorDescriptor_t yDesc,
                                          void *y) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  if (xDesc->dims != yDesc->dims)
    return CUDNN_STATUS_BAD_PARAM;
  return write(referenceLrn(read(xDesc->dims, x), lrn->size, lrn->alpha, lrn->beta, lrn->bias),
               alpha, beta, y);
}

cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn,
                                           cudnnLRNMode_t, const void *alpha,
                                           const cudnnTensorDescriptor_t yDesc, const void *yData,
                                           const cudnnTensorDescriptor_t, const void *dyData,
                                           const cudnnTensorDescriptor_t, const void *xData,
                                           const void *beta, const cudnnTensorDescriptor_t,
                                           void *dxData) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  const Array x = read(yDesc->dims, xData), dy = read(yDesc->dims, dyData);
  auto forward = [&](const Array &at) {
    return referenceLrn(at, lrn->size, lrn->alpha, lrn->beta, lrn->bias);
  };
  if (relativeError(read(yDesc->dims, yData), forward(x)) > 1e-6)
    return CUDNN_STATUS_BAD_PARAM; // y is not x's
  return write(numericalGradient(forward, x, dy), alpha, beta, dxData);
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void *alpha,
                                  const cudnnTensorDescriptor_t xDesc, const void *xData,
                                  const void *beta, const cudnnTensorDescriptor_t, void *y) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_SOFTMAX_MODE_CHANNEL)
    return CUDNN_STATUS_NOT_SUPPORTED;
  Array x = read(xDesc->dims, xData), largest(x.shape, -INFINITY);
  forEachIndex(x.shape, [&](const Shape &at) { // as ACCURATE and LOG do, so that nothing overflows
    Shape other = at;
    for (other[1] = 0; other[1] < x.shape[1]; ++other[1])
      largest[at] = std::max(largest[at], x[other]);
  });
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] -= largest.values[i];
  return write(referenceSoftmax(x, 1, algorithm == CUDNN_SOFTMAX_LOG), alpha, beta, y);
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                   cudnnSoftmaxMode_t mode, const void *alpha,
                                   const cudnnTensorDescriptor_t yDesc, const void *yData,
                                   const cudnnTensorDescriptor_t, const void *dyData,
                                   const void *beta, const cudnnTensorDescriptor_t, void *dxData) {
  if (!isReady(handle))
    return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_SOFTMAX_MODE_CHANNEL)
    return CUDNN_STATUS_NOT_SUPPORTED;
  const bool logarithm = algorithm == CUDNN_SOFTMAX_LOG;
  const Array y = read(yDesc->dims, yData), dy = read(yDesc->dims, dyData);
  Array dx(y.shape);
  forEachIndex(y.shape, [&](const Shape &at) {
    double sum = 0;
    Shape other = at;
    for (other[1] = 0; other[1] < y.shape[1]; ++other[1])
      sum += logarithm ? dy[other] : dy[other] * y[other];
    dx[at] = logarithm ? dy[at] - std::exp(y[at]) * sum : y[at] * (dy[at] - sum);
  });
  return write(dx, alpha, beta, dxData);
}
