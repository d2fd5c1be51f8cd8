// Convolution on cuDNN. The algorithm is picked once, by cuDNN's heuristics: the fastest that gives
// the same bits every time and keeps to the limit of workspace, or else the fastest that does that,
// in the first layout of the precision for which there is one.
#include "runtime/core/Strides.h"
#include "runtime/cuda/BatchNormKernels.h"
#include "runtime/cuda/ConvolutionPlan.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Reductions.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

namespace syncline::cuda {

namespace {

constexpr float one = 1, zero = 0;

bool isUnsupported(cudnnStatus_t status) {
  return status / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000;
}

/// Fourier transforms round more than products do.
bool isExact(cudnnConvolutionFwdAlgo_t a) {
  return a != CUDNN_CONVOLUTION_FWD_ALGO_FFT && a != CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING;
}
bool isExact(cudnnConvolutionBwdDataAlgo_t a) {
  return a != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT &&
         a != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING;
}
bool isExact(cudnnConvolutionBwdFilterAlgo_t a) {
  return a != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT &&
         a != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING;
}

/// An algorithm and its workspace.
template <typename Algorithm> struct Choice {
  Algorithm algorithm;
  Scratch workspace;
};

/// The algorithms that may be taken, the best first: those whose bits are the same every time, then
/// the others; each as fast as the next or faster.
template <typename Performance>
std::vector<Performance> candidates(const Performance *results, int found) {
  std::vector<Performance> fit;
  std::copy_if(results, results + found, std::back_inserter(fit), [](const Performance &r) {
    return r.status == CUDNN_STATUS_SUCCESS && isExact(r.algo);
  });
  std::stable_partition(fit.begin(), fit.end(),
                        [](const Performance &r) { return r.determinism == CUDNN_DETERMINISTIC; });
  return fit;
}

/// What to take of an operation's algorithms: `list` and `measure` are its functions of cuDNN, for
/// the fastest first and for the workspace of one; a, b and c its descriptors, in their order.
/// Nothing where cuDNN has no algorithm within the limit of workspace.
template <typename Performance, auto list, auto measure, typename A, typename B, typename C>
auto choose(Preparation &p, const ConvolutionPlan &plan, const A &a, const B &b, const C &c) {
  using Algorithm = decltype(Performance::algo);
  const cudnnHandle_t cudnn = p.program.device.cudnn;
  std::array<Performance, 16> results;
  int found = 0;
  const cudnnStatus_t listed = list(cudnn, a, b, plan.convolution, c,
                                    static_cast<int>(results.size()), &found, results.data());
  if (isUnsupported(listed))
    return std::optional<Choice<Algorithm>>();
  check(listed, "cudnnGetConvolutionAlgorithm_v7");
  const bool keepsBits = p.program.options.precision == Precision::fp32;
  for (const Performance &r : candidates(results.data(), found)) {
    check(cudnnSetConvolutionMathType(plan.convolution, keepsBits ? CUDNN_FMA_MATH : r.mathType),
          "cudnnSetConvolutionMathType");
    // The list's workspace is for the list's math type.
    std::size_t bytes = 0;
    const cudnnStatus_t status = measure(cudnn, a, b, plan.convolution, c, r.algo, &bytes);
    if (isUnsupported(status) || bytes > static_cast<std::size_t>(workspaceLimit))
      continue;
    check(status, "cudnnGetConvolutionWorkspaceSize");
    return std::optional(Choice<Algorithm>{r.algo, p.scratch(static_cast<std::int64_t>(bytes))});
  }
  return std::optional<Choice<Algorithm>>();
}

/// Prepares a convolution in the first layout of its precision that cuDNN has an algorithm for:
/// `prepareIn(layout)` says whether.
template <typename PrepareIn> void prepareInAny(Preparation &p, const PrepareIn &prepareIn) {
  for (const Layout &layout : convolutionLayouts(p.program.options.precision))
    if (prepareIn(layout))
      return;
  p.fail("cuDNN has no algorithm for these shapes within " + std::to_string(workspaceLimit >> 20) +
         " MiB of workspace");
}

/// "cudnn:1" names the algorithm as cuDNN counts them, "cudnn:1 bf16 channels-last" the layout too.
template <typename Algorithm> std::string nameOf(Algorithm algorithm, const Layout &layout) {
  const std::string name = "cudnn:" + std::to_string(static_cast<int>(algorithm));
  return layout == Layout{} ? name : name + " " + describe(layout);
}

/// One value a channel of y.
TensorDescriptor describeBias(const Preparation &p, Tensor y, const Layout &layout) {
  Shape dims(std::max<std::size_t>(p.shape(y).size(), 4), 1);
  dims[1] = p.shape(y)[1];
  return describeTensor(dims, {layout.type, false});
}

/// Everything a forward convolution needs when it runs.
struct Forward {
  Program &program;
  ConvolutionPlan plan;
  Choice<cudnnConvolutionFwdAlgo_t> choice;
  Place<const std::byte> x, w;
  Place<const float> bias;
  Place<std::byte> y;
  std::int64_t channels, inner, count;
  bool hasRelu;
  bool isFused = false;
  Place<const std::byte> fusedBias{}; ///< of y's type
  TensorDescriptor biasDescriptor{};
  ActivationDescriptor relu{};

  void *workspace() const { return program.at<void>(choice.workspace); }
  std::size_t workspaceBytes() const { return static_cast<std::size_t>(choice.workspace.bytes); }

  /// False where cuDNN has no such kernel.
  bool runFused() const {
    const cudnnStatus_t status = cudnnConvolutionBiasActivationForward(
        program.device.cudnn, &one, plan.x, x, plan.w, w, plan.convolution, choice.algorithm,
        workspace(), workspaceBytes(), &zero, plan.y, y, biasDescriptor, fusedBias, relu, plan.y,
        y);
    if (isUnsupported(status))
      return false;
    check(status, "cudnnConvolutionBiasActivationForward");
    return true;
  }

  void run() {
    if (isFused && (isFused = runFused()))
      return;
    check(cudnnConvolutionForward(program.device.cudnn, &one, plan.x, x, plan.w, w,
                                  plan.convolution, choice.algorithm, workspace(), workspaceBytes(),
                                  &zero, plan.y, y),
          "cudnnConvolutionForward");
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
  auto prepareIn = [&](Preparation &p, const Layout &layout) {
    const ConvolutionPlan plan(p, x, w, bias, y, window, layout);
    const auto choice =
        choose<cudnnConvolutionFwdAlgoPerf_t, cudnnGetConvolutionForwardAlgorithm_v7,
               cudnnGetConvolutionForwardWorkspaceSize>(p, plan, plan.x, plan.w, plan.y);
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
    if (forward.hasRelu && bias.isValid()) {
      forward.isFused = true;
      forward.fusedBias = p.input<std::byte>(bias, {layout.type, false});
      forward.biasDescriptor = describeBias(p, y, layout);
      check(cudnnSetActivationDescriptor(forward.relu, CUDNN_ACTIVATION_RELU,
                                         CUDNN_NOT_PROPAGATE_NAN, 0),
            "cudnnSetActivationDescriptor");
    }
    p.call(nameOf(choice->algorithm, layout), [forward]() mutable { forward.run(); });
    return true;
  };
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout) { return prepareIn(p, layout); });
  });
}

void CudaBuilder::convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                                   const Window &window) {
  auto prepareIn = [&](Preparation &p, const Layout &layout) {
    const ConvolutionPlan plan(p, dx, w, none, dy, window, layout);
    const auto choice =
        choose<cudnnConvolutionBwdDataAlgoPerf_t, cudnnGetConvolutionBackwardDataAlgorithm_v7,
               cudnnGetConvolutionBackwardDataWorkspaceSize>(p, plan, plan.w, plan.y, plan.x);
    if (!choice)
      return false;
    const auto gradient = p.input<std::byte>(dy, layout), weights = p.input<std::byte>(w, layout);
    const auto stored = p.output<std::byte>(dx, layout);
    const auto result = plan.isPadded ? p.scratchPlace<std::byte>(plan.paddedBytes()) : stored;
    p.call(nameOf(choice->algorithm, layout),
           [&program = program, plan, choice = *choice, gradient, weights, result] {
             check(cudnnConvolutionBackwardData(
                       program.device.cudnn, &one, plan.w, weights, plan.y, gradient,
                       plan.convolution, choice.algorithm, program.at<void>(choice.workspace),
                       static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.x, result),
                   "cudnnConvolutionBackwardData");
           });
    if (plan.isPadded)
      appendUnpadding(p, plan, result, stored);
    return true;
  };
  prepare("convBackwardData", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout) { return prepareIn(p, layout); });
  });
}

/// Appends the sums of dy over all but channels.
static void appendBiasGradient(Preparation &p, Tensor dy, Tensor dbias, const Layout &layout,
                               const Place<const std::byte> &gradient) {
  const auto result = p.output(dbias);
  if (!layout.isChannelsLast) {
    Shape axes{0};
    for (std::int64_t d = 2; d < p.rank(dy); ++d)
      axes.push_back(d);
    // Of at most five dimensions: a map holds them.
    const ReduceMap map = *reduceMap(p.shape(dy), denseStrides(p.shape(dy)), axes);
    return appendReduction(p, "sums", map, gradient.as<const float>(), result, 1);
  }
  const BatchNormShape shape = rowsAndChannels(p.shape(dy));
  const auto scratch = p.scratchPlace<std::byte>(batchNormScratch(shape));
  withElement(layout.type, [&]<typename T> {
    p.call("columns", [=, &program = p.program, from = gradient.as<const T>()] {
      check(biasGradient<T>(program.device.compute, shape, from, result, scratch), "biasGradient");
    });
  });
}

void CudaBuilder::convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw,
                                      Tensor dbias, const Window &window) {
  auto prepareIn = [&](Preparation &p, const Layout &layout) {
    const ConvolutionPlan plan(p, x, dw, dbias, dy, window, layout);
    const auto choice =
        choose<cudnnConvolutionBwdFilterAlgoPerf_t, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
               cudnnGetConvolutionBackwardFilterWorkspaceSize>(p, plan, plan.x, plan.y, plan.w);
    if (!choice)
      return false;
    const auto gradient = p.input<std::byte>(dy, layout);
    p.call(nameOf(choice->algorithm, layout),
           [&program = program, plan, choice = *choice, gradient,
            operand = appendPadding(p, plan, p.input<std::byte>(x, layout)),
            result = p.output<std::byte>(dw, layout)] {
             check(cudnnConvolutionBackwardFilter(
                       program.device.cudnn, &one, plan.x, operand, plan.y, gradient,
                       plan.convolution, choice.algorithm, program.at<void>(choice.workspace),
                       static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.w, result),
                   "cudnnConvolutionBackwardFilter");
           });
    if (dbias.isValid())
      appendBiasGradient(p, dy, dbias, layout, gradient);
    return true;
  };
  prepare("convBackwardWeights", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    prepareInAny(p, [&](const Layout &layout) { return prepareIn(p, layout); });
  });
}

} // namespace syncline::cuda
