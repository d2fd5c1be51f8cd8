// A rank's device, driven through the same backend as in training by loops of single operations.
#pragma once

#include "runtime/core/Backend.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace syncline::calibrate {

/// One operation that can be timed.
struct Kernel {
  std::string name; ///< for output: "3x3 convolution, backward data"
  int operation;    ///< index in the executable
  double flops;     ///< a multiplication and an addition count as two
  double bytes;     ///< bytes read and written, each counted once
};

struct DeviceOptions {
  /// The options of training; `sizes` is ignored.
  core::ExecutableOptions how;
  /// Bytes for messages after the step's own gradients, and after its own parameters.
  std::int64_t messageBytes = 0;
  /// Buckets of the channels that will be opened; offsets count from the bytes for messages. This
  /// rank updates nothing of buckets by "reduce-scatter".
  std::vector<core::Bucket> messages = {};
};

/// A small step, used only for measurements, that the backend prepares as in training. One thread
/// at a time uses it.
class Device {
public:
  /// The largest amount of work. 0 hardly keeps a processor busy; maxWork keeps the fastest
  /// GPU busy.
  static constexpr int maxWork = 3;
  /// The amount of work that is measured on processors.
  static constexpr int processorWork = 1;

  /// Errors: badInput where the device or memory is short.
  static Result<std::unique_ptr<Device>>
  create(const core::Backend &backend, const DeviceOptions &options, int work = processorWork);

  /// Convolutions and, last, a matrix product: the arithmetic of most networks.
  const std::vector<Kernel> &compute() const { return computing; }
  /// Operations on tensors larger than caches, and the optimizer with momentum.
  const std::vector<Kernel> &memory() const { return streaming; }
  /// An operation on 16 numbers, whose time is the overhead.
  const Kernel &smallest() const { return small; }

  /// Runs the kernel `runs` times, or enqueues it on a device.
  Status run(const Kernel &kernel, int runs = 1);
  /// Runs all kernels of compute() `passes` times, then those of memory(). Marks the beginning at
  /// `place`, and what is between and behind them at the next two places.
  Status runAll(int passes, int place);

  /// Seconds between marks around `work`, which enqueues operations.
  Result<double> time(const std::function<Status()> &work);
  /// time() in separate calls: begin(), mark() at places from 1, and marks(), which waits for the
  /// device and returns the seconds since begin() by place.
  Status begin();
  Status mark(int place) { return executable->mark(place); }
  Result<std::vector<double>> marks();
  /// The number of the step begun by begin().
  std::int64_t step() const { return number; }

  /// The executable for the backend's channels.
  core::Executable &forChannels() { return *executable; }
  /// The bytes for messages in gradients or parameters.
  std::byte *room(Space space);

private:
  Device() = default;
  std::unique_ptr<core::Executable> executable;
  std::vector<Kernel> computing, streaming;
  Kernel small;
  std::int64_t roomBegin = 0, number = 0;
};

} // namespace syncline::calibrate
