// Choosing cuDNN's algorithm for a convolution. Candidates are listed once, by cuDNN's heuristics,
// within the limit of workspace: first the fastest deterministic algorithms, then the fastest
// others. The heuristics do not guarantee that an algorithm runs; if it refuses, the next candidate
// is used.
#pragma once

#include "runtime/cuda/ConvolutionPlan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace syncline::cuda {

/// Whether another algorithm or layout may do after this failure. cuDNN answers BAD_PARAM or an
/// internal error too where its heuristics name an algorithm that has no kernel for the shapes, or
/// where the library that holds the kernel is missing or cannot be compiled. Short memory and
/// failures of a device are none of these.
inline bool isRefusal(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
  case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
    return false;
  case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED:
    return true;
  default:
    return status >= CUDNN_STATUS_BAD_PARAM && status < CUDNN_STATUS_EXECUTION_FAILED;
  }
}

/// Whether `call` was refused; its text is then in `refusal`. Throws where it failed otherwise.
inline bool isRefused(cudnnStatus_t status, const char *call, std::string &refusal) {
  if (isRefusal(status))
    refusal = std::string(call) + ": " + cudnnGetErrorString(status);
  else
    check(status, call);
  return isRefusal(status);
}

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

/// The candidates of one operation, the best first, and a workspace that is large enough for each.
/// The first few determine the workspace; later ones are kept if they need no more.
template <typename Algorithm> struct Choice {
  struct Candidate {
    Algorithm algorithm;
    cudnnMathType_t mathType;
  };
  static constexpr std::size_t sizingCandidates = 3;

  std::vector<Candidate> candidates; ///< at least one; the first one is used
  Scratch workspace{};
  std::size_t operation = 0; ///< index in the program

  Algorithm algorithm() const { return candidates.front().algorithm; }

  /// Runs `call` with the first algorithm that cuDNN does not refuse, and keeps that algorithm.
  template <typename Call>
  void run(Program &program, const ConvolutionPlan &plan, const char *name, const Call &call) {
    cudnnStatus_t status = call(algorithm());
    while (isRefusal(status) && candidates.size() > 1) {
      candidates.erase(candidates.begin());
      setMathType(plan);
      program.table.operations[operation].implementation = describe(plan.layout);
      status = call(algorithm());
    }
    check(status, name);
  }

  void setMathType(const ConvolutionPlan &plan) const {
    check(cudnnSetConvolutionMathType(plan.convolution, candidates.front().mathType),
          "cudnnSetConvolutionMathType");
  }

  /// The choice as text: "cudnn:1" with cuDNN's number of the algorithm, or "cudnn:1 bf16
  /// channels-last" with the layout.
  std::string describe(const Layout &layout) const {
    const std::string name = "cudnn:" + std::to_string(static_cast<int>(algorithm()));
    return layout == Layout{} ? name : name + " " + cuda::describe(layout);
  }
};

/// Chooses the algorithms of the operation being prepared. `list` and `measure` are cuDNN's
/// functions that list the algorithms, fastest first, and return an algorithm's workspace; a, b
/// and c are their descriptors in order. Nothing where cuDNN has no algorithm within the limit
/// of workspace; `refusal` then has cuDNN's last word, if it said one.
template <typename Performance, auto list, auto measure, typename A, typename B, typename C>
auto choose(Preparation &p, const ConvolutionPlan &plan, std::string &refusal, const A &a,
            const B &b, const C &c) {
  using Found = Choice<decltype(Performance::algo)>;
  const cudnnHandle_t cudnn = p.program.device.cudnn;
  std::array<Performance, 16> results;
  int count = 0;
  const cudnnStatus_t listed = list(cudnn, a, b, plan.convolution, c,
                                    static_cast<int>(results.size()), &count, results.data());
  if (isRefused(listed, "cudnnGetConvolutionAlgorithm_v7", refusal))
    return std::optional<Found>();
  const bool keepsBits = p.program.options.precision == core::Precision::fp32;
  std::vector<Performance> fit;
  std::copy_if(results.begin(), results.begin() + count, std::back_inserter(fit),
               [&](const Performance &r) {
                 return r.status == CUDNN_STATUS_SUCCESS && isExact(r.algo, keepsBits);
               });
  std::stable_partition(fit.begin(), fit.end(),
                        [](const Performance &r) { return r.determinism == CUDNN_DETERMINISTIC; });
  Found found;
  std::size_t largest = 0;
  for (const Performance &r : fit) {
    const cudnnMathType_t mathType = keepsBits ? CUDNN_FMA_MATH : r.mathType;
    check(cudnnSetConvolutionMathType(plan.convolution, mathType), "cudnnSetConvolutionMathType");
    // The listed workspace applies only to the listed math type.
    std::size_t bytes = 0;
    const cudnnStatus_t status = measure(cudnn, a, b, plan.convolution, c, r.algo, &bytes);
    if (isRefused(status, "cudnnGetConvolutionWorkspaceSize", refusal) ||
        bytes > static_cast<std::size_t>(workspaceLimit))
      continue;
    if (found.candidates.size() < Found::sizingCandidates)
      largest = std::max(largest, bytes);
    if (bytes <= largest)
      found.candidates.push_back({r.algo, mathType});
  }
  if (found.candidates.empty())
    return std::optional<Found>();
  found.setMathType(plan);
  found.workspace = p.scratch(static_cast<std::int64_t>(largest));
  found.operation = p.program.table.operations.size() - 1;
  return std::optional(std::move(found));
}

} // namespace syncline::cuda
