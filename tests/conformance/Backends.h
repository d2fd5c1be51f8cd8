// The compute backends that a program of the conformance suite judges.
#pragma once

#include "runtime/core/Executable.h"

#include <cstddef>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace syncline::conformance {

/// A flat loop, compiled for a backend.
struct FlatLoop {
  PointwiseKernel kernel;
  RoundedKernel rounded = nullptr; ///< PointwiseInfo::rounded
  LoopForm form = LoopForm::other;
  int gate = 0;

  /// Appends the loop to the step in one call.
  void append(StepBuilder &step, std::string_view layer, std::span<const Tensor> ins,
              std::span<const Tensor> outs, bool keepsZero) const {
    step.pointwise(layer, kernel, ins, outs, {true, keepsZero, rounded, form, gate});
  }
};

/// PointwiseLoops.h, compiled for a backend.
struct PointwiseKernels {
  FlatLoop addRelu, addOne, twice;
  PointwiseKernel scaleChannels;
  FlatLoop sum, sumRelu, reluGradient, sumReluGradient;
};

struct Backend {
  std::string name;
  Result<std::unique_ptr<core::Executable>> (*create)(const core::ExecutableOptions &);
  /// Within the backend's memory; done when it returns.
  void (*copy)(void *to, const void *from, std::size_t bytes);
  PointwiseKernels kernels;
  double rounding = 0; ///< relative error of its products, where they have fewer bits than f32
};

inline void PrintTo(const Backend &backend, std::ostream *stream) { *stream << backend.name; }

/// The backends of this program; it is linked with the file that lists them.
std::vector<Backend> backends();

} // namespace syncline::conformance
