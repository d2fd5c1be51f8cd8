// Convolution by cuDNN, in the first layout of the precision for which cuDNN has an algorithm.
#include "runtime/core/Strides.h"
#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/ConvolutionChoice.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Reductions.h"

namespace syncline::cuda {

namespace {

constexpr float one = 1, zero = 0;

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

/// The operands and descriptors of a forward convolution. Bias and activation are a separate
/// kernel, because the activations of cudnnConvolutionBiasActivationForward drop NaN.
struct Forward {
  Program &program;
  ConvolutionPlan plan;
  Choice<cudnnConvolutionFwdAlgo_t> choice;
  Place<const std::byte> x, w;
  Place<const float> bias;
  Place<std::byte> y;
  std::int64_t channels, inner, count;
  bool hasRelu;

  void *workspace() const { return program.at<void>(choice.workspace); }
  std::size_t workspaceBytes() const { return static_cast<std::size_t>(choice.workspace.bytes); }

  void run() {
    choice.run(program, plan, "cudnnConvolutionForward", [&](auto algorithm) {
      return cudnnConvolutionForward(program.device.cudnn, &one, plan.x, x, plan.w, w,
                                     plan.convolution, algorithm, workspace(), workspaceBytes(),
                                     &zero, plan.y, y);
    });
    if (!bias.isValid() && !hasRelu)
      return;
    withElement(plan.layout.type, [&]<typename T> {
      check(addBias<T>(program.device.compute, y.as<T>(), bias, channels, inner, hasRelu, count),
            "addBias");
    });
  }
};

} // namespace

void CudaBuilder::conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                       const Window &window, Activation activation) {
  auto prepareIn = [&](Preparation &p, const Layout &layout, std::string &refusal) {
    const ConvolutionPlan plan(p, x, w, bias, y, window, layout);
    const auto choice =
        choose<cudnnConvolutionFwdAlgoPerf_t, cudnnGetConvolutionForwardAlgorithm_v7,
               cudnnGetConvolutionForwardWorkspaceSize>(p, plan, refusal, plan.x, plan.w, plan.y);
    if (!choice)
      return false;
    const std::int64_t channels = p.shape(y)[1];
    const std::int64_t positions = p.count(y) / (p.shape(y)[0] * channels);
    Forward forward{program,
                    plan,
                    *choice,
                    appendPadding(p, plan, p.input<std::byte>(x, layout)),
                    p.input<std::byte>(w, layout),
                    bias.isValid() ? p.input(bias) : Place<const float>(),
                    p.output<std::byte>(y, layout),
                    channels,
                    layout.isChannelsLast ? 1 : positions,
                    p.count(y),
                    activation == Activation::relu};
    p.call(choice->describe(layout), [forward]() mutable { forward.run(); });
    return true;
  };
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      return prepareIn(p, layout, refusal);
    });
  });
}

void CudaBuilder::convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                                   const Window &window) {
  auto prepareIn = [&](Preparation &p, const Layout &layout, std::string &refusal) {
    const ConvolutionPlan plan(p, dx, w, none, dy, window, layout);
    const auto choice =
        choose<cudnnConvolutionBwdDataAlgoPerf_t, cudnnGetConvolutionBackwardDataAlgorithm_v7,
               cudnnGetConvolutionBackwardDataWorkspaceSize>(p, plan, refusal, plan.w, plan.y,
                                                             plan.x);
    if (!choice)
      return false;
    const auto gradient = p.input<std::byte>(dy, layout), weights = p.input<std::byte>(w, layout);
    const auto stored = p.output<std::byte>(dx, layout);
    const auto result = plan.isPadded ? p.scratchPlace<std::byte>(plan.paddedBytes()) : stored;
    p.call(choice->describe(layout),
           [&program = program, plan, choice = *choice, gradient, weights, result]() mutable {
             choice.run(program, plan, "cudnnConvolutionBackwardData", [&](auto algorithm) {
               return cudnnConvolutionBackwardData(
                   program.device.cudnn, &one, plan.w, weights, plan.y, gradient, plan.convolution,
                   algorithm, program.at<void>(choice.workspace),
                   static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.x, result);
             });
           });
    if (plan.isPadded)
      appendUnpadding(p, plan, result, stored);
    return true;
  };
  prepare("convBackwardData", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      return prepareIn(p, layout, refusal);
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
    return appendReduction(p, "sums", map, gradient.as<const float>(), result, 1);
  }
  const BatchNormShape shape = rowsAndChannels(p.shape(dy));
  const auto scratch = p.scratchPlace<std::byte>(batchNormScratch(shape));
  withElement(layout.type, [&]<typename T> {
    p.call("columns", [=, &program = p.program, from = gradient.as<const T>()] {
      check(biasGradient<T>(program.device.compute, shape, from, result,
                            {scratch, program.columnCounters()}),
            "biasGradient");
    });
  });
}

void CudaBuilder::convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw,
                                      Tensor dbias, const Window &window) {
  auto prepareIn = [&](Preparation &p, const Layout &layout, std::string &refusal) {
    const ConvolutionPlan plan(p, x, dw, dbias, dy, window, layout);
    const auto choice =
        choose<cudnnConvolutionBwdFilterAlgoPerf_t, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
               cudnnGetConvolutionBackwardFilterWorkspaceSize>(p, plan, refusal, plan.x, plan.y,
                                                               plan.w);
    if (!choice)
      return false;
    const auto gradient = p.input<std::byte>(dy, layout);
    p.call(choice->describe(layout),
           [&program = program, plan, choice = *choice, gradient,
            operand = appendPadding(p, plan, p.input<std::byte>(x, layout)),
            result = p.output<std::byte>(dw, layout)]() mutable {
             choice.run(program, plan, "cudnnConvolutionBackwardFilter", [&](auto algorithm) {
               return cudnnConvolutionBackwardFilter(
                   program.device.cudnn, &one, plan.x, operand, plan.y, gradient, plan.convolution,
                   algorithm, program.at<void>(choice.workspace),
                   static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.w, result);
             });
           });
    if (dbias.isValid())
      appendBiasGradient(p, dy, dbias, layout, gradient);
    return true;
  };
  prepare("convBackwardWeights", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout, std::string &refusal) {
      return prepareIn(p, layout, refusal);
    });
  });
}

} // namespace syncline::cuda
