// Batch normalization by oneDNN, in the layout of its input.
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/NotANumber.h"

#include <algorithm>

namespace syncline::cpu {

namespace {

using Flags = dnnl::normalization_flags;

Flags flagsOf(Activation activation) {
  Flags flags = Flags::use_scale | Flags::use_shift;
  if (activation == Activation::relu)
    flags |= Flags::fuse_norm_relu;
  return flags;
}

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
  p.call("blend", [=, channels = core::elementCount(p.shape(running))] {
    blend(pointer<float>(destination), pointer<float>(source), channels, momentum, correction);
  });
}

} // namespace

void CpuBuilder::batchNorm(std::string_view layer, Tensor x, Tensor scale, Tensor shift,
                           Tensor runningMean, Tensor runningVariance, Tensor y, Tensor mean,
                           Tensor variance, Tensor workspace, double epsilon, double momentum,
                           Activation activation) {
  prepare("batchNorm", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32, ElementType::bf16});
    const bool relu = activation == Activation::relu;
    core::checkChannels(p, x, {scale, shift, runningMean, runningVariance, mean, variance});
    core::checkMask(p, y, workspace, activation);
    p.expectLike(y, x);
    const Layout data = p.layout(x);
    const dnnl::batch_normalization_forward::primitive_desc desc(
        {dnnl::prop_kind::forward_training, data, static_cast<float>(epsilon), flagsOf(activation)},
        p.attributes(), p.program.engine);
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, p.input(x, data)},      {DNNL_ARG_DST, p.output(y, data)},
        {DNNL_ARG_MEAN, p.plainOutput(mean)},  {DNNL_ARG_VARIANCE, p.plainOutput(variance)},
        {DNNL_ARG_SCALE, p.plainInput(scale)}, {DNNL_ARG_SHIFT, p.plainInput(shift)}};
    if (relu) {
      arguments.emplace(DNNL_ARG_WORKSPACE, p.opaque(workspace, desc.workspace_desc()));
      normalizations[workspace.id] = desc;
    }
    const auto operands = arguments;
    p.primitive(dnnl::batch_normalization_forward(desc), desc, std::move(arguments));
    if (relu)
      appendNanNormalization(p, static_cast<float>(epsilon), operands);
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
    const Layout data = p.layout(x);
    const Flags flags = flagsOf(activation);
    dnnl::batch_normalization_forward::primitive_desc forward;
    if (auto found = normalizations.find(workspace.id); relu && found != normalizations.end())
      forward = found->second;
    else if (relu)
      p.fail("expected the workspace of a batch normalization with activation");
    else
      forward = {{dnnl::prop_kind::forward_training, data, static_cast<float>(epsilon), flags},
                 p.attributes(),
                 p.program.engine};
    const dnnl::batch_normalization_backward::primitive_desc desc(
        {dnnl::prop_kind::backward, data, data, static_cast<float>(epsilon), flags}, p.attributes(),
        p.program.engine, forward);
    auto resultOr = [&](Tensor tensor, const Layout &layout) {
      return tensor.isValid() ? p.output(tensor, layout) : p.scratch(layout);
    };
    const Layout channels = p.plain(scale);
    const dnnl::memory factor = p.plainInput(scale);
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, p.input(x, data)},
        {DNNL_ARG_MEAN, p.plainInput(mean)},
        {DNNL_ARG_VARIANCE, p.plainInput(variance)},
        {DNNL_ARG_DIFF_DST, p.input(dy, data)},
        {DNNL_ARG_SCALE, factor},
        {DNNL_ARG_SHIFT, factor}, // oneDNN requires it but does not read it
        {DNNL_ARG_DIFF_SRC, resultOr(dx, data)},
        {DNNL_ARG_DIFF_SCALE, resultOr(dscale, channels)},
        {DNNL_ARG_DIFF_SHIFT, resultOr(dshift, channels)}};
    if (relu)
      arguments.emplace(DNNL_ARG_WORKSPACE, p.opaque(workspace, forward.workspace_desc()));
    const auto operands = arguments;
    p.primitive(dnnl::batch_normalization_backward(desc), desc, std::move(arguments));
    if (relu)
      appendNanShiftGradient(p, operands);
  });
}

} // namespace syncline::cpu
