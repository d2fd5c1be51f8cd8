// cuDNN's normalizations and softmax on the host.
#include "tests/host-cuda/HostDnn.h"

#include <algorithm>
#include <cmath>

using namespace syncline::hostcuda;

namespace {

/// What all but batch normalizations are given.
bool isPlain(cudnnTensorDescriptor_t desc) {
  return !desc->isChannelsLast && desc->type == CUDNN_DATA_FLOAT;
}

bool isChannels(cudnnTensorDescriptor_t desc, std::int64_t channels) {
  return desc->dims == syncline::Shape{1, channels, 1, 1} && isPlain(desc);
}

/// Σ over outer and inner of a channel.
template <typename F> double sumOver(const Planes &x, std::int64_t channel, const F &term) {
  double sum = 0;
  for (std::int64_t o = 0; o < x.outer; ++o)
    for (std::int64_t i = 0; i < x.inner; ++i)
      sum += term(x.at(o, channel, i));
  return sum;
}

template <typename F> void forEachOf(const Planes &x, std::int64_t channel, const F &body) {
  for (std::int64_t o = 0; o < x.outer; ++o)
    for (std::int64_t i = 0; i < x.inner; ++i)
      body(x.at(o, channel, i));
}

struct Running {
  float *mean, *variance; ///< null where they are not kept
  double factor;
};

void normalize(const Planes &planes, const float *x, float *y, const float *scale,
               const float *shift, const Running &running, double epsilon, float *savedMean,
               float *savedInverse) {
  const double n = static_cast<double>(planes.outer * planes.inner);
  for (std::int64_t c = 0; c < planes.channels; ++c) {
    const double mean = sumOver(planes, c, [&](std::int64_t i) { return x[i]; }) / n;
    const double variance =
        sumOver(planes, c, [&](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / n;
    const double inverse = 1 / std::sqrt(variance + epsilon);
    forEachOf(planes, c, [&](std::int64_t i) {
      y[i] = static_cast<float>((x[i] - mean) * inverse * scale[c] + shift[c]);
    });
    savedMean[c] = static_cast<float>(mean);
    savedInverse[c] = static_cast<float>(inverse);
    auto blend = [&](float *old, double value) {
      if (old)
        old[c] = static_cast<float>((1 - running.factor) * old[c] + running.factor * value);
    };
    blend(running.mean, mean);
    blend(running.variance, variance * n / (n - 1));
  }
}

void normalizeBackward(const Planes &planes, const float *x, const float *dy, float *dx,
                       const float *scale, float *dscale, float *dshift, const float *mean,
                       const float *inverse) {
  const double n = static_cast<double>(planes.outer * planes.inner);
  for (std::int64_t c = 0; c < planes.channels; ++c) {
    auto normal = [&](std::int64_t i) { return (x[i] - double{mean[c]}) * inverse[c]; };
    const double byScale = sumOver(planes, c, [&](std::int64_t i) { return dy[i] * normal(i); });
    const double byShift = sumOver(planes, c, [&](std::int64_t i) { return dy[i]; });
    forEachOf(planes, c, [&](std::int64_t i) {
      dx[i] = static_cast<float>(double{scale[c]} * inverse[c] *
                                 (dy[i] - byShift / n - normal(i) * byScale / n));
    });
    dscale[c] = static_cast<float>(byScale);
    dshift[c] = static_cast<float>(byShift);
  }
}

/// bias + alpha / size · Σ x² over the channels around each.
std::vector<double> lrnScales(const Planes &planes, const cudnnLRNStruct &lrn, const float *x) {
  std::vector<double> scales(static_cast<std::size_t>(planes.size()));
  const std::int64_t behind = (lrn.size - 1) / 2, ahead = lrn.size / 2;
  for (std::int64_t o = 0; o < planes.outer; ++o)
    for (std::int64_t c = 0; c < planes.channels; ++c)
      for (std::int64_t i = 0; i < planes.inner; ++i) {
        double sum = 0;
        for (std::int64_t k = std::max<std::int64_t>(c - behind, 0);
             k <= std::min(c + ahead, planes.channels - 1); ++k)
          sum += double{x[planes.at(o, k, i)]} * x[planes.at(o, k, i)];
        scales[static_cast<std::size_t>(planes.at(o, c, i))] =
            lrn.bias + lrn.alpha / lrn.size * sum;
      }
  return scales;
}

/// Whether y is what the forward pass makes of x: cuDNN relies on it.
bool isForward(const cudnnLRNStruct &lrn, const std::vector<double> &scales, const float *x,
               const float *y) {
  double difference = 0, sum = 0;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const double wanted = x[i] * std::pow(scales[i], -lrn.beta);
    if (std::isnan(wanted) && std::isnan(y[i]))
      continue;
    difference += (y[i] - wanted) * (y[i] - wanted);
    sum += wanted * wanted;
  }
  return difference <= 1e-12 * sum;
}

void lrnBackward(const Planes &planes, const cudnnLRNStruct &lrn, const float *x, const float *y,
                 const float *dy, float *dx) {
  const std::vector<double> scales = lrnScales(planes, lrn, x);
  if (!isForward(lrn, scales, x, y))
    return breakDevice(cudaErrorLaunchFailure, "LRN's gradient: y is not x's");
  const std::int64_t behind = lrn.size / 2, ahead = (lrn.size - 1) / 2; // who sees this channel
  for (std::int64_t o = 0; o < planes.outer; ++o)
    for (std::int64_t c = 0; c < planes.channels; ++c)
      for (std::int64_t i = 0; i < planes.inner; ++i) {
        const std::int64_t own = planes.at(o, c, i);
        const double ownScale = scales[static_cast<std::size_t>(own)];
        double sum = 0;
        for (std::int64_t k = std::max<std::int64_t>(c - behind, 0);
             k <= std::min(c + ahead, planes.channels - 1); ++k) {
          const std::int64_t at = planes.at(o, k, i);
          const double scale = scales[static_cast<std::size_t>(at)];
          sum += dy[at] * double{x[at]} * std::pow(scale, -lrn.beta - 1);
        }
        dx[own] = static_cast<float>(dy[own] * std::pow(ownScale, -lrn.beta) -
                                     2 * lrn.alpha * lrn.beta / lrn.size * x[own] * sum);
      }
}

/// Calls body(first, stride) for every row along the channels.
template <typename F> void forEachRow(const Planes &planes, const F &body) {
  for (std::int64_t o = 0; o < planes.outer; ++o)
    for (std::int64_t i = 0; i < planes.inner; ++i)
      body(planes.at(o, 0, i), planes.inner);
}

/// Without the largest in the exponent, so that nothing overflows.
void softmax(const Planes &planes, bool isLogarithm, const float *x, float *y) {
  forEachRow(planes, [&](std::int64_t first, std::int64_t stride) {
    const std::int64_t end = first + planes.channels * stride;
    double largest = -INFINITY, sum = 0;
    for (std::int64_t k = first; k < end; k += stride)
      largest = std::max(largest, double{x[k]});
    for (std::int64_t k = first; k < end; k += stride)
      sum += std::exp(x[k] - largest);
    for (std::int64_t k = first; k < end; k += stride)
      y[k] = static_cast<float>(isLogarithm ? x[k] - largest - std::log(sum)
                                            : std::exp(x[k] - largest) / sum);
  });
}

void softmaxBackward(const Planes &planes, bool isLogarithm, const float *y, const float *dy,
                     float *dx) {
  forEachRow(planes, [&](std::int64_t first, std::int64_t stride) {
    const std::int64_t end = first + planes.channels * stride;
    double sum = 0;
    for (std::int64_t k = first; k < end; k += stride)
      sum += isLogarithm ? dy[k] : double{dy[k]} * y[k];
    for (std::int64_t k = first; k < end; k += stride)
      dx[k] = static_cast<float>(isLogarithm ? dy[k] - std::exp(double{y[k]}) * sum
                                             : y[k] * (dy[k] - sum));
  });
}

} // namespace

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t channels, const void *scale, const void *shift,
    double factor, void *runningMean, void *runningVariance, double epsilon, void *savedMean,
    void *savedInverse) {
  if (!isReady(handle) || mode != CUDNN_BATCHNORM_SPATIAL || yDesc->dims != xDesc->dims ||
      !isChannels(channels, xDesc->dims[1]) || !runningMean != !runningVariance ||
      !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  const Running running{floats(runningMean), floats(runningVariance), factor};
  return enqueue(handle,
                 [=, planes = Planes(xDesc->dims), xs = Elements(*xDesc), ys = Elements(*yDesc)] {
                   std::vector<float> result = ys.zeros();
                   normalize(planes, xs.load(x).data(), result.data(), floats(scale), floats(shift),
                             running, epsilon, floats(savedMean), floats(savedInverse));
                   ys.store(result, y);
                 });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t xDesc, const void *x, const cudnnTensorDescriptor_t yDesc,
    void *y, const cudnnTensorDescriptor_t channels, const void *scale, const void *shift,
    const void *mean, const void *variance, double epsilon) {
  if (!isReady(handle) || mode != CUDNN_BATCHNORM_SPATIAL || yDesc->dims != xDesc->dims ||
      !isChannels(channels, xDesc->dims[1]) || !mean || !variance || !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(xDesc->dims), xs = Elements(*xDesc),
                          ys = Elements(*yDesc)] {
    const std::vector<float> given = xs.load(x);
    std::vector<float> result = ys.zeros();
    for (std::int64_t c = 0; c < planes.channels; ++c) {
      const double inverse = 1 / std::sqrt(floats(variance)[c] + epsilon);
      forEachOf(planes, c, [&](std::int64_t i) {
        result[i] = static_cast<float>(
            (given[i] - double{floats(mean)[c]}) * inverse * floats(scale)[c] + floats(shift)[c]);
      });
    }
    ys.store(result, y);
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                                              const void *alpha, const void *beta,
                                              const void *alphaScale, const void *betaScale,
                                              const cudnnTensorDescriptor_t xDesc, const void *x,
                                              const cudnnTensorDescriptor_t dyDesc, const void *dy,
                                              const cudnnTensorDescriptor_t dxDesc, void *dx,
                                              const cudnnTensorDescriptor_t channels,
                                              const void *scale, void *dscale, void *dshift, double,
                                              const void *savedMean, const void *savedInverse) {
  if (!isReady(handle) || mode != CUDNN_BATCHNORM_SPATIAL || dyDesc->dims != xDesc->dims ||
      dxDesc->dims != xDesc->dims || !isChannels(channels, xDesc->dims[1]) ||
      !replaces(alpha, beta) || !replaces(alphaScale, betaScale))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(xDesc->dims), xs = Elements(*xDesc),
                          dys = Elements(*dyDesc), dxs = Elements(*dxDesc)] {
    std::vector<float> result = dxs.zeros();
    normalizeBackward(planes, xs.load(x).data(), dys.load(dy).data(), result.data(), floats(scale),
                      floats(dscale), floats(dshift), floats(savedMean), floats(savedInverse));
    dxs.store(result, dx);
  });
}

cudnnStatus_t cudnnLRNCrossChannelForward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn,
                                          cudnnLRNMode_t, const void *alpha,
                                          const cudnnTensorDescriptor_t xDesc, const void *x,
                                          const void *beta, const cudnnTensorDescriptor_t yDesc,
                                          void *y) {
  if (!isReady(handle) || xDesc->dims != yDesc->dims || !isPlain(xDesc) || !isPlain(yDesc) ||
      !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(xDesc->dims), lrn = *lrn] {
    const std::vector<double> scales = lrnScales(planes, lrn, floats(x));
    for (std::size_t i = 0; i < scales.size(); ++i)
      floats(y)[i] = static_cast<float>(floats(x)[i] * std::pow(scales[i], -lrn.beta));
  });
}

cudnnStatus_t cudnnLRNCrossChannelBackward(cudnnHandle_t handle, cudnnLRNDescriptor_t lrn,
                                           cudnnLRNMode_t, const void *alpha,
                                           const cudnnTensorDescriptor_t yDesc, const void *y,
                                           const cudnnTensorDescriptor_t, const void *dy,
                                           const cudnnTensorDescriptor_t, const void *x,
                                           const void *beta, const cudnnTensorDescriptor_t,
                                           void *dx) {
  if (!isReady(handle) || !isPlain(yDesc) || !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(yDesc->dims), lrn = *lrn] {
    lrnBackward(planes, lrn, floats(x), floats(y), floats(dy), floats(dx));
  });
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void *alpha,
                                  const cudnnTensorDescriptor_t xDesc, const void *x,
                                  const void *beta, const cudnnTensorDescriptor_t, void *y) {
  if (!isReady(handle) || !isPlain(xDesc) || mode != CUDNN_SOFTMAX_MODE_CHANNEL ||
      !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(xDesc->dims)] {
    softmax(planes, algorithm == CUDNN_SOFTMAX_LOG, floats(x), floats(y));
  });
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                   cudnnSoftmaxMode_t mode, const void *alpha,
                                   const cudnnTensorDescriptor_t yDesc, const void *y,
                                   const cudnnTensorDescriptor_t, const void *dy, const void *beta,
                                   const cudnnTensorDescriptor_t, void *dx) {
  if (!isReady(handle) || !isPlain(yDesc) || mode != CUDNN_SOFTMAX_MODE_CHANNEL ||
      !replaces(alpha, beta))
    return CUDNN_STATUS_BAD_PARAM;
  return enqueue(handle, [=, planes = Planes(yDesc->dims)] {
    softmaxBackward(planes, algorithm == CUDNN_SOFTMAX_LOG, floats(y), floats(dy), floats(dx));
  });
}
