// Convolution by cuDNN, in the first layout of the precision for which cuDNN has an algorithm.
#include "runtime/core/Strides.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Reductions.h"
#include "runtime/cuda/dnn/ConvolutionGraph.h"
#include "runtime/cuda/dnn/ConvolutionSums.h"
#include "runtime/cuda/dnn/LegacyConvolution.h"
#include "runtime/cuda/kernels/BatchNormKernels.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

namespace {

/// Prepares a convolution in the first layout of its precision for which cuDNN has an algorithm.
/// `prepareIn(layout, refusal)` returns whether it has one, or sets `refusal` to what cuDNN said.
template <typename PrepareIn> void prepareInAny(Preparation &p, const PrepareIn &prepareIn) {
  std::string refusal;
  for (const Layout &layout : convolutionLayouts(p.program.options.precision))
    if (prepareIn(layout, refusal))
      return;
  p.fail("cuDNN has no algorithm for these shapes within " + std::to_string(workspaceLimit >> 20) +
         " MiB of workspace" + (refusal.empty() ? "" : " (" + refusal + ")"));
}

/// A convolution being prepared in one layout.
struct Convolution {
  Convolution(Preparation &p, ConvolutionPlan described)
      : plan(std::move(described)),
        engines(std::make_shared<ConvolutionEngines>(p, plan.layout, plan.geometry())) {}

  /// Appends the convolution by the best of the engines, of which there is at least one.
  void append(Preparation &p, const ConvolutionPlaces &places) const {
    *at = places;
    p.program.convolutions.push_back(engines);
    p.call(engines->implementation(), [engines = engines] { engines->run(); });
  }

  ConvolutionPlan plan;
  std::shared_ptr<ConvolutionPlaces> at = std::make_shared<ConvolutionPlaces>();
  std::shared_ptr<ConvolutionEngines> engines;
};

/// Adds the bias to y and applies the activation. This is a kernel of its own: the activations of
/// cudnnConvolutionBiasActivationForward drop NaN.
void appendBias(Preparation &p, Tensor bias, Tensor y, const Layout &layout,
                const Place<std::byte> &result, bool hasRelu) {
  if (!bias.isValid() && !hasRelu)
    return;
  const std::int64_t channels = p.shape(y)[1], count = p.count(y);
  const std::int64_t inner = layout.isChannelsLast ? 1 : count / (p.shape(y)[0] * channels);
  const auto added = bias.isValid() ? p.input(bias) : Place<const float>();
  withElement(layout.type, [&]<typename T> {
    p.call("", [=, &program = p.program, to = result.as<T>()] {
      SYNCLINE_CHECK(
          addBias<T>(program.device.compute, to, added, channels, inner, hasRelu, count));
    });
  });
}

/// Adds cuDNN's engines by its graphs and by its older interface.
void addEngines(Preparation &p, const Convolution &c, ConvolutionKind kind, std::string &refusal) {
  const ConvolutionPlan &plan = c.plan;
  addGraphEngines(*c.engines, p, plan, kind, c.at, refusal);
  switch (kind) {
  case ConvolutionKind::forward:
  case ConvolutionKind::forwardAndSums:
    return addLegacyEngines<cudnnConvolutionFwdAlgoPerf_t, cudnnGetConvolutionForwardAlgorithm_v7,
                            cudnnGetConvolutionForwardWorkspaceSize, cudnnConvolutionForward>(
        *c.engines, p, plan, c.at, refusal, plan.x, plan.w, plan.y);
  case ConvolutionKind::backwardData:
    return addLegacyEngines<
        cudnnConvolutionBwdDataAlgoPerf_t, cudnnGetConvolutionBackwardDataAlgorithm_v7,
        cudnnGetConvolutionBackwardDataWorkspaceSize, cudnnConvolutionBackwardData>(
        *c.engines, p, plan, c.at, refusal, plan.w, plan.y, plan.x);
  case ConvolutionKind::backwardWeights:
    return addLegacyEngines<
        cudnnConvolutionBwdFilterAlgoPerf_t, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
        cudnnGetConvolutionBackwardFilterWorkspaceSize, cudnnConvolutionBackwardFilter>(
        *c.engines, p, plan, c.at, refusal, plan.x, plan.y, plan.w);
  }
}

} // namespace

void CudaBuilder::conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                       const Window &window, Activation activation) {
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      const Convolution c(p, ConvolutionPlan(p, x, w, bias, y, window, layout));
      addEngines(p, c, ConvolutionKind::forward, refusal);
      if (!c.engines->settle(refusal))
        return false;
      const ConvolutionPlaces at{appendPadding(p, c.plan, p.input<std::byte>(x, layout)),
                                 p.input<std::byte>(w, layout), p.output<std::byte>(y, layout)};
      c.append(p, at);
      appendBias(p, bias, y, layout, at.result, activation == Activation::relu);
      if (!bias.isValid() && activation == Activation::none)
        offerSums(p, y, {c.plan, c.at, c.engines});
      return true;
    });
  });
}

void CudaBuilder::convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                                   const Window &window) {
  prepare("convBackwardData", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      const Convolution c(p, ConvolutionPlan(p, dx, w, none, dy, window, layout));
      addEngines(p, c, ConvolutionKind::backwardData, refusal);
      if (!c.engines->settle(refusal))
        return false;
      const auto gradient = p.input<std::byte>(dy, layout), weights = p.input<std::byte>(w, layout);
      const auto stored = p.output<std::byte>(dx, layout);
      const auto result =
          c.plan.isPadded ? p.scratchPlace<std::byte>(c.plan.paddedBytes()) : stored;
      c.append(p, {weights, gradient, result});
      if (c.plan.isPadded)
        appendUnpadding(p, c.plan, result, stored);
      return true;
    });
  });
}

/// Appends the sums of dy over all dimensions but the channels.
static void appendBiasGradient(Preparation &p, Tensor dy, Tensor dbias, const Layout &layout,
                               const Place<const std::byte> &gradient) {
  const auto result = p.output(dbias);
  if (!layout.isChannelsLast) {
    Shape axes{0};
    for (std::int64_t d = 2; d < p.rank(dy); ++d)
      axes.push_back(d);
    // dy has at most five dimensions, so a map can hold them.
    const ReduceMap map = *reduceMap(p.shape(dy), core::denseStrides(p.shape(dy)), axes);
    return appendReduction(p, "sums", Reduction::sum, map, gradient.as<const float>(), result);
  }
  const BatchNormShape shape = rowsAndChannels(p.shape(dy));
  const auto scratch = p.scratchPlace<std::byte>(batchNormScratch(shape));
  withElement(layout.type, [&]<typename T> {
    p.call("columns", [=, &program = p.program, from = gradient.as<const T>()] {
      SYNCLINE_CHECK(biasGradient<T>(program.device.compute, shape, from, result,
                                     {scratch, program.columnCounters()}));
    });
  });
}

void CudaBuilder::convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw,
                                      Tensor dbias, const Window &window) {
  prepare("convBackwardWeights", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      const Convolution c(p, ConvolutionPlan(p, x, dw, dbias, dy, window, layout));
      addEngines(p, c, ConvolutionKind::backwardWeights, refusal);
      if (!c.engines->settle(refusal))
        return false;
      const auto gradient = p.input<std::byte>(dy, layout);
      c.append(p, {appendPadding(p, c.plan, p.input<std::byte>(x, layout)), gradient,
                   p.output<std::byte>(dw, layout)});
      if (dbias.isValid())
        appendBiasGradient(p, dy, dbias, layout, gradient);
      return true;
    });
  });
}

} // namespace syncline::cuda
