// Convolution on cuDNN. The algorithm is picked once, by cuDNN's heuristics: the fastest that gives
// the same bits every time and keeps to the limit of workspace, or else the fastest that does that.
#include "runtime/cuda/ConvolutionPlan.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Kernels.h"

#include <algorithm>
#include <array>
#include <iterator>
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

/// `get(most, found, results)` lists algorithms, the fastest first; `measure(algorithm, bytes)`
/// asks for the workspace of one.
template <typename Performance, typename Get, typename Measure>
auto choose(Preparation &p, const ConvolutionPlan &plan, const Get &get, const Measure &measure) {
  std::array<Performance, 16> results;
  int found = 0;
  get(static_cast<int>(results.size()), &found, results.data());
  // Whatever the list says of it, f32 keeps its bits unless the user gave them up.
  const bool keepsBits = p.program.options.precision == Precision::fp32;
  for (const Performance &r : candidates(results.data(), found)) {
    check(cudnnSetConvolutionMathType(plan.convolution, keepsBits ? CUDNN_FMA_MATH : r.mathType),
          "cudnnSetConvolutionMathType");
    // The list's workspace is for the list's math type.
    std::size_t bytes = 0;
    const cudnnStatus_t status = measure(r.algo, &bytes);
    if (isUnsupported(status) || bytes > static_cast<std::size_t>(workspaceLimit))
      continue;
    check(status, "cudnnGetConvolutionWorkspaceSize");
    return Choice<decltype(r.algo)>{r.algo, p.scratch(static_cast<std::int64_t>(bytes))};
  }
  p.fail("cuDNN has no algorithm for these shapes within " + std::to_string(workspaceLimit >> 20) +
         " MiB of workspace");
}

/// "cudnn:1" names the algorithm as cuDNN counts them.
template <typename Algorithm> std::string nameOf(Algorithm algorithm) {
  return "cudnn:" + std::to_string(static_cast<int>(algorithm));
}

/// Everything a forward convolution needs when it runs.
struct Forward {
  Program &program;
  ConvolutionPlan plan;
  Choice<cudnnConvolutionFwdAlgo_t> choice;
  Scratch padded;
  const float *x, *w, *bias;
  float *y;
  TensorDescriptor biasDescriptor;
  ActivationDescriptor relu;
  std::int64_t channels, inner, count;
  bool hasRelu, isFused;

  const float *operand() const { return plan.isPadded ? program.at<float>(padded) : x; }
  void *workspace() const { return program.at<void>(choice.workspace); }
  std::size_t workspaceBytes() const { return static_cast<std::size_t>(choice.workspace.bytes); }

  /// False where cuDNN has no such kernel.
  bool runFused() const {
    const cudnnStatus_t status = cudnnConvolutionBiasActivationForward(
        program.device.cudnn, &one, plan.x, operand(), plan.w, w, plan.convolution,
        choice.algorithm, workspace(), workspaceBytes(), &zero, plan.y, y, biasDescriptor, bias,
        relu, plan.y, y);
    if (isUnsupported(status))
      return false;
    check(status, "cudnnConvolutionBiasActivationForward");
    return true;
  }

  void run() {
    if (isFused && (isFused = runFused()))
      return;
    check(cudnnConvolutionForward(program.device.cudnn, &one, plan.x, operand(), plan.w, w,
                                  plan.convolution, choice.algorithm, workspace(), workspaceBytes(),
                                  &zero, plan.y, y),
          "cudnnConvolutionForward");
    if (bias || hasRelu)
      check(addBias(program.device.compute, y, bias, channels, inner, hasRelu, count), "addBias");
  }
};

} // namespace

void CudaBuilder::conv(std::string_view layer, Tensor x, Tensor w, Tensor bias, Tensor y,
                       const Window &window, Activation activation) {
  prepare("conv", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    const ConvolutionPlan plan(p, x, w, bias, y, window);
    const float *operand = p.input(x), *weights = p.input(w);
    const float *added = bias.isValid() ? p.input(bias) : nullptr;
    const Scratch padded = plan.isPadded ? appendPadding(p, plan, operand) : Scratch();
    const auto choice = choose<cudnnConvolutionFwdAlgoPerf_t>(
        p, plan,
        [&](int most, int *found, cudnnConvolutionFwdAlgoPerf_t *results) {
          check(cudnnGetConvolutionForwardAlgorithm_v7(program.device.cudnn, plan.x, plan.w,
                                                       plan.convolution, plan.y, most, found,
                                                       results),
                "cudnnGetConvolutionForwardAlgorithm_v7");
        },
        [&](cudnnConvolutionFwdAlgo_t algorithm, std::size_t *bytes) {
          return cudnnGetConvolutionForwardWorkspaceSize(
              program.device.cudnn, plan.x, plan.w, plan.convolution, plan.y, algorithm, bytes);
        });
    const Shape &result = p.shape(y);
    const bool hasRelu = activation == Activation::relu;
    const std::int64_t channels = result[1];
    Forward forward{program,    plan,    choice,          padded,
                    operand,    weights, added,           p.output(y),
                    {},         {},      channels,        p.count(y) / (result[0] * channels),
                    p.count(y), hasRelu, hasRelu && added};
    forward.biasDescriptor =
        denseTensor(result.size() == 5 ? Shape{1, channels, 1, 1, 1} : Shape{1, channels, 1, 1});
    check(cudnnSetActivationDescriptor(forward.relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN,
                                       0),
          "cudnnSetActivationDescriptor");
    p.call(nameOf(choice.algorithm), [forward]() mutable { forward.run(); });
  });
}

void CudaBuilder::convBackwardData(std::string_view layer, Tensor dy, Tensor w, Tensor dx,
                                   const Window &window) {
  prepare("convBackwardData", layer, [&](Preparation &p) {
    p.expectType(dy, {ElementType::f32});
    const ConvolutionPlan plan(p, dx, w, none, dy, window);
    const Scratch padded = plan.isPadded ? p.scratch(plan.paddedBytes()) : Scratch();
    const auto choice = choose<cudnnConvolutionBwdDataAlgoPerf_t>(
        p, plan,
        [&](int most, int *found, cudnnConvolutionBwdDataAlgoPerf_t *results) {
          check(cudnnGetConvolutionBackwardDataAlgorithm_v7(program.device.cudnn, plan.w, plan.y,
                                                            plan.convolution, plan.x, most, found,
                                                            results),
                "cudnnGetConvolutionBackwardDataAlgorithm_v7");
        },
        [&](cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t *bytes) {
          return cudnnGetConvolutionBackwardDataWorkspaceSize(
              program.device.cudnn, plan.w, plan.y, plan.convolution, plan.x, algorithm, bytes);
        });
    const float *gradient = p.input(dy), *weights = p.input(w);
    float *result = p.output(dx);
    p.call(nameOf(choice.algorithm),
           [&program = program, plan, choice, padded, gradient, weights, result] {
             check(cudnnConvolutionBackwardData(
                       program.device.cudnn, &one, plan.w, weights, plan.y, gradient,
                       plan.convolution, choice.algorithm, program.at<void>(choice.workspace),
                       static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.x,
                       plan.isPadded ? program.at<float>(padded) : result),
                   "cudnnConvolutionBackwardData");
           });
    if (plan.isPadded)
      appendUnpadding(p, plan, padded, result);
  });
}

void CudaBuilder::convBackwardWeights(std::string_view layer, Tensor x, Tensor dy, Tensor dw,
                                      Tensor dbias, const Window &window) {
  prepare("convBackwardWeights", layer, [&](Preparation &p) {
    p.expectType(x, {ElementType::f32});
    const ConvolutionPlan plan(p, x, dw, dbias, dy, window);
    const float *operand = p.input(x), *gradient = p.input(dy);
    const Scratch padded = plan.isPadded ? appendPadding(p, plan, operand) : Scratch();
    const auto choice = choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
        p, plan,
        [&](int most, int *found, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
          check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(program.device.cudnn, plan.x, plan.y,
                                                              plan.convolution, plan.w, most, found,
                                                              results),
                "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
        },
        [&](cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t *bytes) {
          return cudnnGetConvolutionBackwardFilterWorkspaceSize(
              program.device.cudnn, plan.x, plan.y, plan.convolution, plan.w, algorithm, bytes);
        });
    p.call(nameOf(choice.algorithm),
           [&program = program, plan, choice, padded, operand, gradient, result = p.output(dw)] {
             check(cudnnConvolutionBackwardFilter(
                       program.device.cudnn, &one, plan.x,
                       plan.isPadded ? program.at<float>(padded) : operand, plan.y, gradient,
                       plan.convolution, choice.algorithm, program.at<void>(choice.workspace),
                       static_cast<std::size_t>(choice.workspace.bytes), &zero, plan.w, result),
                   "cudnnConvolutionBackwardFilter");
           });
    if (!dbias.isValid())
      return;
    const std::int64_t channels = p.shape(dy)[1];
    const TensorDescriptor bias =
        denseTensor(p.rank(dy) == 5 ? Shape{1, channels, 1, 1, 1} : Shape{1, channels, 1, 1});
    p.call("cudnn", [&program = program, plan, gradient, bias, result = p.output(dbias)] {
      check(cudnnConvolutionBackwardBias(program.device.cudnn, &one, plan.y, gradient, &zero, bias,
                                         result),
            "cudnnConvolutionBackwardBias");
    });
  });
}

} // namespace syncline::cuda
