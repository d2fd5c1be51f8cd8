// When everything in one training step happened, by the clock of the rank that ran it.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"

#include <cstdint>
#include <vector>

namespace syncline {

/// Seconds are from the first operation's begin, by the clock of what computes. Nothing waits for a
/// device to be measured: see StepRunner::mark().
struct StepRecord {
  struct Span {
    double begin = 0, end = 0;
    double seconds() const { return end - begin; }
  };

  std::int64_t step = 0;
  Clock::time_point start;           ///< just before the first operation was told
  std::vector<Span> operations;      ///< as StepRunner::operations()
  std::vector<BucketTiming> buckets; ///< in the order of their waits, without the loss
};

} // namespace syncline
