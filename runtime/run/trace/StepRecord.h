// The times of all operations and messages of one training step, by the clock of its rank.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"
#include "runtime/core/Exchanges.h"

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
  /// What the rank asked of servers.
  struct Request {
    core::ServerRequest::Kind kind;
    std::int64_t clock; ///< number of complete steps that it states
    Span whole, held;   ///< held: while a server held the answer back; empty where none did
  };

  /// Adds requests whose times are points in time.
  void add(const std::vector<core::ServerRequest> &asked);

  std::int64_t step = 0;
  /// Just before the first operation was enqueued, or what is exchanged beside the step was.
  core::Clock::time_point start;
  std::vector<Span> operations;            ///< in the order of StepRunner::operations()
  std::vector<core::BucketTiming> buckets; ///< in the order of their waits, without the loss
  /// Those that ended between this step's record and the one before, or behind the last step. They
  /// may have begun earlier than the step.
  std::vector<Request> requests;
};

} // namespace syncline::run
