// What a rank computes with, through the same backend as training: loops of single operations.
#pragma once

#include "runtime/core/Backend.h"

#include <functional>
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

struct DeviceOptions {
  /// As of training; `sizes` is not read.
  ExecutableOptions how;
  /// Room for messages, behind the step's own gradients and parameters alike.
  std::int64_t messageBytes = 0;
  /// What channels are to know of before they are opened; offsets in that room. Of those by
  /// "reduce-scatter" this rank updates nothing.
  std::vector<Bucket> messages = {};
};

/// A small step that nobody trains with, prepared by the backend of training. One thread at a time.
class Device {
public:
  /// Amounts of work, from what hardly keeps a processor busy to what keeps the fastest GPU so.
  static constexpr int maxWork = 3;
  /// Of these, what is measured on processors.
  static constexpr int processorWork = 1;

  /// Errors: badInput where the device or memory is short.
  static Result<std::unique_ptr<Device>>
  create(const Backend &backend, const DeviceOptions &options, int work = processorWork);

  /// Convolutions and, last, a product of matrices: the arithmetic of most networks.
  const std::vector<Kernel> &compute() const { return computing; }
  /// What moves tensors beyond caches, and the optimizer with momentum.
  const std::vector<Kernel> &memory() const { return streaming; }
  /// An operation on 16 numbers: what is left is the overhead.
  const Kernel &smallest() const { return small; }

  /// These enqueue, on a device.
  Status run(const Kernel &kernel, int runs = 1);
  /// All of compute() and memory() in turn.
  Status runAll(int passes);

  /// Seconds that `work`, which only enqueues, takes on the device: between marks.
  Result<double> time(const std::function<Status()> &work);
  /// The same in pieces: begin(), mark() at places from 1, marks(), which waits for the device and
  /// gives seconds since begin() by place.
  Status begin();
  Status mark(int place) { return executable->mark(place); }
  Result<std::vector<double>> marks();
  /// The number of the step that begin() began.
  std::int64_t step() const { return number; }

  /// For the backend's channels.
  Executable &forChannels() { return *executable; }
  /// The room for messages in one of the two spaces.
  std::byte *room(Space space);

private:
  Device() = default;
  std::unique_ptr<Executable> executable;
  std::vector<Kernel> computing, streaming;
  Kernel small;
  std::int64_t roomBegin = 0, number = 0;
};

} // namespace syncline::calibrate
