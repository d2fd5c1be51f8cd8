// The compute backends that a program of the conformance suite judges.
#pragma once

#include "runtime/core/Executable.h"

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

namespace syncline::conformance {

/// PointwiseLoops.h, compiled for a backend.
struct PointwiseKernels {
  PointwiseKernel addRelu, addOne, twice, scaleChannels;
};

struct Backend {
  std::string name;
  Result<std::unique_ptr<Executable>> (*create)(const ExecutableOptions &);
  /// Within the backend's memory; done when it returns.
  void (*copy)(void *to, const void *from, std::size_t bytes);
  PointwiseKernels kernels;
  double rounding = 0; ///< relative error of its products, where they have fewer bits than f32
};

inline void PrintTo(const Backend &backend, std::ostream *stream) { *stream << backend.name; }

/// The backends of this program; it is linked with the file that lists them.
std::vector<Backend> backends();

} // namespace syncline::conformance
