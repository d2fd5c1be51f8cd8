// Preparing batch normalizations.
#include "runtime/cpu/BatchNorm.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>

namespace syncline::cpu {

namespace {

/// running ← (1 - momentum)·running + momentum·batch·correction.
void blend(float *running, const float *batch, std::int64_t channels, double momentum,
           double correction) {
  const float keep = static_cast<float>(1 - momentum);
  const float take = static_cast<float>(momentum * correction);
  for (std::int64_t c = 0; c < channels; ++c)
    running[c] = keep * running[c] + take * batch[c];
}

void trackStatistics(Preparation &p, Tensor running, Tensor batch, double momentum,
                     double correction) {
  if (!running.isValid())
    return;
  // Statistics are plain, so input and output are the same memory and the update is in place.
  dnnl::memory source = p.plainInput(batch), destination = p.plainInput(running);
  p.call("blend", [=, &program = p.program, channels = core::elementCount(p.shape(running))] {
    if (program.isEvaluation)
      return;
    blend(pointer<float>(destination), pointer<float>(source), channels, momentum, correction);
  });
}

/// The memory of a mean and a variance for each channel.
struct Statistics {
  dnnl::memory mean, variance;
};

/// Empty memory unless both are tracked.
Statistics runningStatistics(Preparation &p, Tensor mean, Tensor variance) {
  if (!mean.isValid() || !variance.isValid())
    return {};
  return {p.plainInput(mean), p.plainInput(variance)};
}

/// The operands' layout: that of x, or plain where that lays channels out in another way.
Layout dataLayout(const Preparation &p, Tensor x) {
  const Layout data = p.layout(x);
  return Channels::of(data) ? data : p.plain(x);
}

/// The elements of a tensor that may be missing.
template <typename T> T *pointerOr(const dnnl::memory &memory) {
  return memory ? pointer<T>(memory) : nullptr;
}

} // namespace

void CpuBuilder::batchNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift,
                           Tensor runningMean, Tensor runningVariance, Tensor y, Tensor mean,
                           Tensor variance, Tensor workspace, double epsilon, double momentum,
                           Activation activation) {
  prepare("batchNorm", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    core::checkChannels(p, x, {scale, shift, runningMean, runningVariance, mean, variance});
    core::checkMask(p, y, workspace, activation);
    p.expectLike(y, x);
    const bool relu = activation == Activation::relu;
    if (relu)
      shifts[workspace.id] = shift;
    const Layout data = dataLayout(p, x);
    const Statistics running = runningStatistics(p, runningMean, runningVariance);
    withElement(data, [&]<typename T>(T) {
      p.call("sums in double",
             [=, &program = p.program, view = *Channels::of(data), channels = p.shape(x)[1],
              x = p.input(x, data), scale = p.plainInput(scale), shift = p.plainInput(shift),
              batch = Statistics{p.plainOutput(mean), p.plainOutput(variance)},
              y = p.output(y, data)] {
               const Normalization<T> of{view, channels, epsilon, relu, pointer<T>(x)};
               const auto by = [&](const Statistics &statistics) {
                 return ChannelValues{pointer<float>(scale), pointer<float>(shift),
                                      pointer<float>(statistics.mean),
                                      pointer<float>(statistics.variance)};
               };
               if (program.isEvaluation && running.mean)
                 normalizeBy(of, by(running), pointer<T>(y));
               else
                 normalize(of, by(batch), pointer<T>(y));
             });
    });
    const std::int64_t samples = core::elementCount(p.shape(x)) / p.shape(x)[1];
    const double unbiased =
        static_cast<double>(samples) / static_cast<double>(std::max<std::int64_t>(samples - 1, 1));
    trackStatistics(p, runningMean, mean, momentum, 1.0);
    trackStatistics(p, runningVariance, variance, momentum, unbiased);
  });
}

void CpuBuilder::batchNormBackward(std::string_view layer, Tensor x, Tensor scale, Tensor mean,
                                   Tensor variance, Tensor workspace, Tensor dy, Tensor dx,
                                   Tensor dscale, Tensor dshift, double epsilon,
                                   Activation activation) {
  prepare("batchNormBackward", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    core::checkChannels(p, x, {scale, mean, variance, dscale, dshift});
    p.expectLike(dy, x);
    if (dx.isValid())
      p.expectLike(dx, x);
    const bool relu = activation == Activation::relu;
    const auto found = shifts.find(workspace.id);
    if (relu && found == shifts.end())
      p.fail("expected the workspace of a batch normalization with activation");
    const Tensor shift = relu ? found->second : scale; // not read without ReLU
    const auto result = [&](Tensor tensor, const Layout &layout) {
      return tensor.isValid() ? p.output(tensor, layout) : dnnl::memory();
    };
    const Layout data = dataLayout(p, x), channels = p.plain(scale);
    withElement(data, [&]<typename T>(T) {
      p.call("sums in double",
             [=, view = *Channels::of(data), count = p.shape(x)[1], x = p.input(x, data),
              scale = p.plainInput(scale), shift = p.plainInput(shift), mean = p.plainInput(mean),
              variance = p.plainInput(variance), dy = p.input(dy, data), dx = result(dx, data),
              dscale = result(dscale, channels), dshift = result(dshift, channels)] {
               const ChannelValues values{pointer<float>(scale), pointer<float>(shift),
                                          pointer<float>(mean), pointer<float>(variance)};
               normalizeBackward({view, count, epsilon, relu, pointer<T>(x)}, values,
                                 pointer<T>(dy), pointerOr<T>(dx), pointerOr<float>(dscale),
                                 pointerOr<float>(dshift));
             });
    });
  });
}

} // namespace syncline::cpu
