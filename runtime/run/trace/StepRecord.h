// The times of all operations and messages of one training step, by the clock of its rank.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"

#include <cstdint>
#include <vector>

namespace syncline::run {

/// Seconds count from `start`, by the clock of the computing device.
/// Recording does not wait for the device: see StepRunner::mark().
struct StepRecord {
  struct Span {
    double begin = 0, end = 0;
    double seconds() const { return end - begin; }
  };

  std::int64_t step = 0;
  /// Just before the first operation was enqueued, or what is exchanged beside the step was.
  core::Clock::time_point start;
  std::vector<Span> operations;            ///< in the order of StepRunner::operations()
  std::vector<core::BucketTiming> buckets; ///< in the order of their waits, without the loss
};

} // namespace syncline::run
