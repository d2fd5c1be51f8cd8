// Batch normalization: by cuDNN in row-major order, where all bits of f32 are kept, and by the
// backend's kernels channels last.
#include "runtime/core/Strides.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/NormSums.h"
#include "runtime/cuda/dnn/ConvolutionSums.h"
#include "runtime/cuda/dnn/Descriptors.h"
#include "runtime/cuda/kernels/BatchNormKernels.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

namespace {

constexpr float one = 1, zero = 0;
constexpr auto spatial = CUDNN_BATCHNORM_SPATIAL; ///< the persistent mode may overflow

/// The arguments of StepBuilder::batchNorm().
struct Forward {
  Tensor x, scale, shift, runningMean, runningVariance, y, mean, variance, workspace;
  double epsilon, momentum;
  bool hasRelu;
};
struct Backward {
  Tensor x, scale, mean, variance, workspace, dy, dx, dscale, dshift;
  double epsilon;
  bool hasRelu;
};

/// Describes the tensor to cuDNN as [N, C, positions, 1].
TensorDescriptor describeData(const Preparation &p, Tensor x) {
  p.expectCountable(x);
  const core::AxisView view = core::aroundAxis(p.shape(x), 1);
  return describeTensor({view.outer, view.extent, view.inner, 1});
}

std::int64_t bytesOf(const Preparation &p, Tensor tensor) {
  return p.count(tensor) * static_cast<std::int64_t>(sizeof(float));
}

/// The place of a result that the library always writes: the tensor's place if the plan has the
/// tensor, otherwise scratch memory.
Place<float> resultOr(Preparation &p, Tensor tensor, Tensor like) {
  return tensor.isValid() ? p.output(tensor) : p.scratchPlace<float>(bytesOf(p, like));
}

void appendRowMajor(Preparation &p, const Forward &f) {
  const std::int64_t channels = p.shape(f.x)[1], n = p.count(f.x);
  const TensorDescriptor data = describeData(p, f.x);
  const TensorDescriptor statistics = describeTensor({1, channels, 1, 1});
  const auto from = p.input(f.x), factor = p.input(f.scale), offset = p.input(f.shift);
  // cuDNN tracks both running statistics or none.
  const bool tracks = f.runningMean.isValid() || f.runningVariance.isValid();
  const auto oldMean = tracks ? resultOr(p, f.runningMean, f.mean) : Place<float>();
  const auto oldVariance = tracks ? resultOr(p, f.runningVariance, f.mean) : Place<float>();
  const auto to = p.output(f.y), batchMean = p.output(f.mean), deviation = p.output(f.variance);
  const bool tracksBoth = f.runningMean.isValid() && f.runningVariance.isValid();
  p.call("cudnn", [=, &program = p.program, epsilon = f.epsilon, momentum = f.momentum] {
    if (program.isEvaluation && tracksBoth) {
      SYNCLINE_CHECK(cudnnBatchNormalizationForwardInference(
          program.device.cudnn, spatial, &one, &zero, data, from, data, to, statistics, factor,
          offset, oldMean, oldVariance, epsilon));
      return;
    }
    SYNCLINE_CHECK(cudnnBatchNormalizationForwardTraining(
        program.device.cudnn, spatial, &one, &zero, data, from, data, to, statistics, factor,
        offset, momentum, oldMean, oldVariance, epsilon, batchMean, deviation));
    SYNCLINE_CHECK(
        toVariance(program.device.compute, deviation, static_cast<float>(epsilon), channels));
  });
  if (f.hasRelu)
    p.call("", [=, &program = p.program, mask = p.output<std::uint8_t>(f.workspace)] {
      SYNCLINE_CHECK(reluMask(program.device.compute, to, mask, n));
    });
}

void appendRowMajor(Preparation &p, const Backward &b) {
  const std::int64_t channels = p.shape(b.x)[1], n = p.count(b.x);
  const TensorDescriptor data = describeData(p, b.x);
  const TensorDescriptor statistics = describeTensor({1, channels, 1, 1});
  const auto from = p.input(b.x), factor = p.input(b.scale), batchMean = p.input(b.mean);
  const auto batchVariance = p.input(b.variance), given = p.input(b.dy);
  const auto mask = b.hasRelu ? p.input<std::uint8_t>(b.workspace) : Place<const std::uint8_t>();
  const auto masked = b.hasRelu ? p.scratchPlace<float>(bytesOf(p, b.dy)) : Place<float>();
  const auto inverse = p.scratchPlace<float>(bytesOf(p, b.mean));
  const auto toX = resultOr(p, b.dx, b.x), toScale = resultOr(p, b.dscale, b.scale);
  const auto toShift = resultOr(p, b.dshift, b.scale);
  p.call("cudnn", [=, &program = p.program, epsilon = b.epsilon] {
    const cudaStream_t stream = program.device.compute;
    if (mask.isValid())
      SYNCLINE_CHECK(applyMask(stream, given, mask, masked, n));
    const float *const gradient = mask.isValid() ? Place<const float>(masked) : given;
    SYNCLINE_CHECK(
        toInverseDeviation(stream, batchVariance, inverse, static_cast<float>(epsilon), channels));
    SYNCLINE_CHECK(cudnnBatchNormalizationBackward(
        program.device.cudnn, spatial, &one, &zero, &one, &zero, data, from, data, gradient, data,
        toX, statistics, factor, toScale, toShift, epsilon, batchMean, inverse));
  });
}

template <typename T>
void appendChannelsLast(Preparation &p, const Forward &f, const Layout &layout) {
  const BatchNormShape shape = rowsAndChannels(p.shape(f.x));
  const auto x = p.input<T>(f.x, layout);
  const auto y = p.output<T>(f.y, layout);
  const auto workspace = f.hasRelu ? p.output<std::uint8_t>(f.workspace, {ElementType::u8, true})
                                   : Place<std::uint8_t>();
  const auto scale = p.input(f.scale), shift = p.input(f.shift);
  const auto mean = p.output(f.mean), variance = p.output(f.variance);
  const auto oldMean = p.outputOrNull(f.runningMean);
  const auto oldVariance = p.outputOrNull(f.runningVariance);
  const auto scratch = p.scratchPlace<std::byte>(batchNormScratch(shape));
  const auto joined =
      f.hasRelu ? nullptr
                : offerNorm(p, layout,
                            {.x = f.x,
                             .y = f.y,
                             .mean = f.mean,
                             .shift = f.shift,
                             .from = x.template as<const std::byte>(),
                             .batchMean = mean,
                             .runningMean = oldVariance.isValid() ? oldMean : Place<float>(),
                             .shifts = shift});
  const auto made = takeSums(p, f.x, layout);
  const auto given = [=, epsilon = f.epsilon, momentum = f.momentum](bool hasSums) {
    BatchNormForward<T> operands{x,        y,       {},          scale,   shift,   mean,
                                 variance, oldMean, oldVariance, epsilon, momentum};
    if (workspace.isValid())
      operands.positives = {shape, workspace};
    if (hasSums) {
      operands.sums = made->places->sums;
      operands.squares = made->places->squares;
    }
    return operands;
  };
  if (made)
    made->engines->followBy(
        [=, &program = p.program, gain = p.scratchPlace<float>(bytesOf(p, f.mean))](bool hasSums) {
          BatchNormForward<T> operands = given(hasSums);
          operands.runningMean = operands.runningVariance = nullptr; // timing changes no state
          operands.gain = gain;                                      // nor computes elements
          operands.trustsSums = true;                                // it reads equal numbers alone
          SYNCLINE_CHECK(batchNorm(program.device.compute, shape, operands,
                                   {scratch, program.columnCounters()}));
        });
  p.call("columns", [=, &program = p.program] {
    BatchNormForward<T> operands = given(made && made->areMade());
    SumAfterNorm<T> sum;
    if (joined) {
      sum = joined->template operands<T>(program.isEvaluation);
      if (joined->isTaken && !joined->isNormRead)
        operands.y = nullptr;
      if (joined->skipsElements())
        operands.gain = joined->gain;
    }
    const ColumnMemory memory{scratch, program.columnCounters()};
    if (program.isEvaluation && operands.runningMean && operands.runningVariance) {
      operands.mean = operands.runningMean;
      operands.variance = operands.runningVariance;
      SYNCLINE_CHECK(batchNormBy(program.device.compute, shape, operands, memory, sum));
      return;
    }
    SYNCLINE_CHECK(batchNorm(program.device.compute, shape, operands, memory, sum));
  });
}

template <typename T>
void appendChannelsLast(Preparation &p, const Backward &b, const Layout &layout) {
  const BatchNormShape shape = rowsAndChannels(p.shape(b.x));
  const auto x = p.input<T>(b.x, layout), dy = p.input<T>(b.dy, layout);
  const auto workspace = b.hasRelu ? p.input<std::uint8_t>(b.workspace, {ElementType::u8, true})
                                   : Place<const std::uint8_t>();
  const auto dx = b.dx.isValid() ? p.output<T>(b.dx, layout) : Place<T>();
  const auto dscale = p.outputOrNull(b.dscale), dshift = p.outputOrNull(b.dshift);
  const auto scale = p.input(b.scale), mean = p.input(b.mean), variance = p.input(b.variance);
  const auto scratch = p.scratchPlace<std::byte>(batchNormScratch(shape));
  const auto sum = b.hasRelu ? nullptr : takeSum(p, b.dy, layout);
  p.call("columns", [=, &program = p.program, epsilon = b.epsilon] {
    BatchNormBackward<T> operands{x, dy, {}, dx, dscale, dshift, scale, mean, variance, epsilon};
    if (workspace.isValid())
      operands.positives = {shape, workspace};
    const ColumnMemory memory{scratch, program.columnCounters()};
    SYNCLINE_CHECK(batchNormBackward(program.device.compute, shape, operands, memory,
                                     sum ? sum->template operands<T>() : SumBeforeNorm<T>()));
  });
}

template <typename Arguments> void appendEither(Preparation &p, const Arguments &arguments) {
  if (p.program.options.precision == core::Precision::fp32)
    return appendRowMajor(p, arguments);
  const Layout layout{p.layout(arguments.x).type, true};
  withElement(layout.type, [&]<typename T> { appendChannelsLast<T>(p, arguments, layout); });
}

} // namespace

void CudaBuilder::batchNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift,
                            Tensor runningMean, Tensor runningVariance, Tensor y, Tensor mean,
                            Tensor variance, Tensor workspace, double epsilon, double momentum,
                            Activation activation) {
  prepare("batchNorm", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    core::checkChannels(p, x, {scale, shift, runningMean, runningVariance, mean, variance});
    core::checkMask(p, y, workspace, activation);
    p.expectLike(y, x);
    appendEither(p, Forward{x, scale, shift, runningMean, runningVariance, y, mean, variance,
                            workspace, epsilon, momentum, activation == Activation::relu});
  });
}

void CudaBuilder::batchNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor mean,
                                    Tensor variance, Tensor workspace, Tensor dy, Tensor dx,
                                    Tensor dscale, Tensor dshift, double epsilon,
                                    Activation activation) {
  prepare("batchNormBackward", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    core::checkChannels(p, x, {scale, mean, variance, dscale, dshift});
    core::checkMask(p, dy, workspace, activation);
    p.expectLike(dy, x);
    if (dx.isValid())
      p.expectLike(dx, x);
    appendEither(p, Backward{x, scale, mean, variance, workspace, dy, dx, dscale, dshift, epsilon,
                             activation == Activation::relu});
  });
}

} // namespace syncline::cuda
