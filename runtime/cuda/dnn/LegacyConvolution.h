// The engines of a convolution that cuDNN's older interface offers: its algorithms, in the order of
// its heuristics.
#pragma once

#include "runtime/cuda/dnn/ConvolutionEngines.h"

#include <array>

namespace syncline::cuda {

/// Whether the algorithm keeps the accuracy of f32. Fourier transforms round more than products do,
/// and large Winograd tiles lose bits of f32.
inline bool isExact(cudnnConvolutionFwdAlgo_t a, bool keepsBits) {
  return a != CUDNN_CONVOLUTION_FWD_ALGO_FFT && a != CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING &&
         !(keepsBits && a == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED);
}
inline bool isExact(cudnnConvolutionBwdDataAlgo_t a, bool keepsBits) {
  return a != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT &&
         a != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING &&
         !(keepsBits && a == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED);
}
inline bool isExact(cudnnConvolutionBwdFilterAlgo_t a, bool keepsBits) {
  return a != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT &&
         a != CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING &&
         !(keepsBits && a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED);
}

/// Adds an engine for each algorithm. `list`, `size` and `enqueue` are cuDNN's functions that list
/// the algorithms, fastest first, return an algorithm's workspace and enqueue the convolution; a, b
/// and c describe the places' left, right and result. `refusal` is cuDNN's word if it lists none.
template <typename Performance, auto list, auto size, auto enqueue, typename A, typename B,
          typename C>
void addLegacyEngines(ConvolutionEngines &engines, Preparation &p, const ConvolutionPlan &plan,
                      std::shared_ptr<const ConvolutionPlaces> at, std::string &refusal, const A &a,
                      const B &b, const C &c) {
  const cudnnHandle_t cudnn = p.program.device.cudnn;
  std::array<Performance, 16> results;
  int count = 0;
  const cudnnStatus_t listed = list(cudnn, a, b, plan.convolution, c,
                                    static_cast<int>(results.size()), &count, results.data());
  if (isRefused(listed, "cudnnGetConvolutionAlgorithm_v7", refusal))
    return;
  const bool keepsBits = p.program.options.precision == core::Precision::fp32;
  for (int i = 0; i < count; ++i) {
    const Performance &r = results[static_cast<std::size_t>(i)];
    if (r.status != CUDNN_STATUS_SUCCESS || !isExact(r.algo, keepsBits))
      continue;
    // The descriptor is the engines' common one, so that each sets its math type before use.
    const auto setMath = [convolution = plan.convolution,
                          math = keepsBits ? CUDNN_FMA_MATH : r.mathType] {
      return cudnnSetConvolutionMathType(convolution, math);
    };
    ConvolutionEngine engine;
    engine.name = std::to_string(static_cast<int>(r.algo));
    engine.isDeterministic = r.determinism == CUDNN_DETERMINISTIC;
    // The listed workspace applies only to the listed math type.
    engine.measure = [=, algorithm = r.algo, convolution = plan.convolution](std::size_t &bytes) {
      const cudnnStatus_t status = setMath();
      return status ? status : size(cudnn, a, b, convolution, c, algorithm, &bytes);
    };
    engine.run = [=, algorithm = r.algo, convolution = plan.convolution](void *workspace,
                                                                         std::size_t bytes) {
      constexpr float one = 1, zero = 0;
      const cudnnStatus_t status = setMath();
      return status ? status
                    : enqueue(cudnn, &one, a, at->left, b, at->right, convolution, algorithm,
                              workspace, bytes, &zero, c, at->result);
    };
    engines.add(std::move(engine));
  }
}

} // namespace syncline::cuda
