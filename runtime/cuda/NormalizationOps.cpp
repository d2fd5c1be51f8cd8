// Batch and local response normalization, softmax: cuDNN. A tensor is seen as [N, C, positions, 1],
// whatever its spatial dimensions.
#include "runtime/core/Strides.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Descriptors.h"
#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

namespace {

constexpr float one = 1, zero = 0;
constexpr auto spatial = CUDNN_BATCHNORM_SPATIAL; ///< the persistent one may overflow

TensorDescriptor aroundDimension(const Preparation &p, Tensor tensor, std::int64_t axis) {
  p.expectCountable(tensor);
  const AxisView view = aroundAxis(p.shape(tensor), axis);
  return denseTensor({view.outer, view.extent, view.inner, 1});
}

std::int64_t bytesOf(const Preparation &p, Tensor tensor) {
  return p.count(tensor) * static_cast<std::int64_t>(sizeof(float));
}

/// A result that the library wants and the plan may not: its own place, or scratch.
struct Result {
  float *own;
  Scratch scratch;
  float *at(const Program &program) const { return own ? own : program.at<float>(scratch); }
};

Result resultOr(Preparation &p, Tensor tensor, Tensor like) {
  if (tensor.isValid())
    return {p.output(tensor), {}};
  return {nullptr, p.scratch(bytesOf(p, like))};
}

LrnDescriptor lrnDescriptor(const Preparation &p, Tensor x, std::int64_t size, double alpha,
                            double beta, double bias) {
  if (p.rank(x) < 2)
    p.fail("'" + p.info(x).name + "': expected at least 2 dimensions");
  if (size < CUDNN_LRN_MIN_N || size > CUDNN_LRN_MAX_N || beta < CUDNN_LRN_MIN_BETA ||
      bias < CUDNN_LRN_MIN_K)
    p.fail("expected a size of 1 to 16, a beta of at least 0.01 and a bias of at least 0.00001");
  LrnDescriptor lrn;
  check(cudnnSetLRNDescriptor(lrn, static_cast<unsigned>(size), alpha, beta, bias),
        "cudnnSetLRNDescriptor");
  return lrn;
}

cudnnSoftmaxAlgorithm_t softmaxKind(bool logarithm) {
  return logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE;
}

} // namespace

void CudaBuilder::batchNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift,
                            Tensor runningMean, Tensor runningVariance, Tensor y, Tensor mean,
                            Tensor variance, Tensor workspace, double epsilon, double momentum,
                            Activation activation) {
  prepare("batchNorm", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    checkChannels(p, x, {scale, shift, runningMean, runningVariance, mean, variance});
    checkMask(p, y, workspace, activation);
    p.expectLike(y, x);
    const std::int64_t channels = p.shape(x)[1], n = p.count(x);
    const TensorDescriptor data = aroundDimension(p, x, 1);
    const TensorDescriptor statistics = denseTensor({1, channels, 1, 1});
    const float *from = p.input(x), *factor = p.input(scale), *offset = p.input(shift);
    // Both or neither, as cuDNN has it.
    const bool tracks = runningMean.isValid() || runningVariance.isValid();
    const Result oldMean = tracks ? resultOr(p, runningMean, mean) : Result{};
    const Result oldVariance = tracks ? resultOr(p, runningVariance, mean) : Result{};
    float *to = p.output(y), *batchMean = p.output(mean), *deviation = p.output(variance);
    p.call("cudnn", [=, &program = program] {
      check(cudnnBatchNormalizationForwardTraining(
                program.device.cudnn, spatial, &one, &zero, data, from, data, to, statistics,
                factor, offset, momentum, tracks ? oldMean.at(program) : nullptr,
                tracks ? oldVariance.at(program) : nullptr, epsilon, batchMean, deviation),
            "cudnnBatchNormalizationForwardTraining");
      check(toVariance(program.device.compute, deviation, static_cast<float>(epsilon), channels),
            "toVariance");
    });
    if (activation == Activation::relu)
      p.call("", [=, &program = program, mask = p.output<std::uint8_t>(workspace)] {
        check(reluMask(program.device.compute, to, mask, n), "reluMask");
      });
  });
}

void CudaBuilder::batchNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor mean,
                                    Tensor variance, Tensor workspace, Tensor dy, Tensor dx,
                                    Tensor dscale, Tensor dshift, double epsilon,
                                    Activation activation) {
  prepare("batchNormBackward", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    checkChannels(p, x, {scale, mean, variance, dscale, dshift});
    checkMask(p, dy, workspace, activation);
    p.expectLike(dy, x);
    if (dx.isValid())
      p.expectLike(dx, x);
    const std::int64_t channels = p.shape(x)[1], n = p.count(x);
    const TensorDescriptor data = aroundDimension(p, x, 1);
    const TensorDescriptor statistics = denseTensor({1, channels, 1, 1});
    const float *from = p.input(x), *factor = p.input(scale), *batchMean = p.input(mean);
    const float *batchVariance = p.input(variance), *gradient = p.input(dy);
    const bool hasMask = activation == Activation::relu;
    const std::uint8_t *mask = hasMask ? p.input<std::uint8_t>(workspace) : nullptr;
    const Scratch masked = hasMask ? p.scratch(bytesOf(p, dy)) : Scratch();
    const Scratch deviation = p.scratch(bytesOf(p, mean));
    const Result toX = resultOr(p, dx, x), toScale = resultOr(p, dscale, scale);
    const Result toShift = resultOr(p, dshift, scale);
    p.call("cudnn", [=, &program = program] {
      const cudaStream_t stream = program.device.compute;
      if (hasMask)
        check(applyMask(stream, gradient, mask, program.at<float>(masked), 1, n), "applyMask");
      float *inverse = program.at<float>(deviation);
      check(
          toInverseDeviation(stream, batchVariance, inverse, static_cast<float>(epsilon), channels),
          "toInverseDeviation");
      check(cudnnBatchNormalizationBackward(
                program.device.cudnn, spatial, &one, &zero, &one, &zero, data, from, data,
                hasMask ? program.at<float>(masked) : gradient, data, toX.at(program), statistics,
                factor, toScale.at(program), toShift.at(program), epsilon, batchMean, inverse),
            "cudnnBatchNormalizationBackward");
    });
  });
}

void CudaBuilder::lrn(std::string_view layer, Tensor x, Tensor y, std::int64_t size, double alpha,
                      double beta, double bias) {
  prepare("lrn", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    p.expectLike(y, x);
    p.call("cudnn", [&program = program, from = p.input(x), to = p.output(y),
                     lrn = lrnDescriptor(p, x, size, alpha, beta, bias),
                     data = aroundDimension(p, x, 1)] {
      check(cudnnLRNCrossChannelForward(program.device.cudnn, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                        &one, data, from, &zero, data, to),
            "cudnnLRNCrossChannelForward");
    });
  });
}

void CudaBuilder::lrnBackward(std::string_view layer, Tensor x, Tensor dy, Tensor dx,
                              std::int64_t size, double alpha, double beta, double bias) {
  prepare("lrnBackward", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    p.expectLike(dy, x);
    p.expectLike(dx, x);
    // cuDNN wants y, which the plan does not keep.
    p.call("cudnn", [&program = program, y = p.scratch(bytesOf(p, x)), from = p.input(x),
                     gradient = p.input(dy), to = p.output(dx),
                     lrn = lrnDescriptor(p, x, size, alpha, beta, bias),
                     data = aroundDimension(p, x, 1)] {
      float *again = program.at<float>(y);
      check(cudnnLRNCrossChannelForward(program.device.cudnn, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                        &one, data, from, &zero, data, again),
            "cudnnLRNCrossChannelForward");
      check(cudnnLRNCrossChannelBackward(program.device.cudnn, lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                         &one, data, again, data, gradient, data, from, &zero, data,
                                         to),
            "cudnnLRNCrossChannelBackward");
    });
  });
}

void CudaBuilder::softmax(std::string_view layer, Tensor x, Tensor y, std::int64_t axis,
                          bool logarithm) {
  prepare("softmax", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    p.expectLike(y, x);
    p.call("cudnn", [=, &program = program, from = p.input(x), to = p.output(y),
                     data = aroundDimension(p, x, p.expectAxis(x, axis))] {
      check(cudnnSoftmaxForward(program.device.cudnn, softmaxKind(logarithm),
                                CUDNN_SOFTMAX_MODE_CHANNEL, &one, data, from, &zero, data, to),
            "cudnnSoftmaxForward");
    });
  });
}

void CudaBuilder::softmaxBackward(std::string_view layer, Tensor y, Tensor dy, Tensor dx,
                                  std::int64_t axis, bool logarithm) {
  prepare("softmaxBackward", layer, [&](Preparation &p) {
    p.expectType(y, {ElementType::f32});
    p.expectLike(dy, y);
    p.expectLike(dx, y);
    p.call("cudnn", [=, &program = program, result = p.input(y), gradient = p.input(dy),
                     to = p.output(dx), data = aroundDimension(p, y, p.expectAxis(y, axis))] {
      check(cudnnSoftmaxBackward(program.device.cudnn, softmaxKind(logarithm),
                                 CUDNN_SOFTMAX_MODE_CHANNEL, &one, data, result, data, gradient,
                                 &zero, data, to),
            "cudnnSoftmaxBackward");
    });
  });
}

} // namespace syncline::cuda
