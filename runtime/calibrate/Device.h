// What a rank computes with, through the same backend as training: loops of single operations.
#pragma once

#include "runtime/core/Executable.h"

#include <memory>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// One operation that can be timed.
struct Kernel {
  std::string name; ///< "3x3 convolution, backward data"
  int operation;    ///< in the executable
  double flops;     ///< multiply and add count as two
  double bytes;     ///< read and written, at least once each
};

/// A small step that nobody trains with, prepared by the backend of training. One thread at a time.
class Device {
public:
  /// `threads` as of training. Errors: badInput where memory is short.
  static Result<std::unique_ptr<Device>> create(int threads);

  /// Convolutions and a product: the arithmetic of most networks.
  const std::vector<Kernel> &compute() const { return computing; }
  /// A sum of two tensors and the optimizer with momentum, on tensors beyond caches.
  const std::vector<Kernel> &memory() const { return streaming; }
  /// A sum of 16 numbers: what is left is the overhead.
  const Kernel &smallest() const { return small; }

  Status run(const Kernel &kernel) { return executable->run(kernel.operation); }

private:
  Device() = default;
  std::unique_ptr<Executable> executable;
  std::vector<Kernel> computing, streaming;
  Kernel small;
};

} // namespace syncline::calibrate
