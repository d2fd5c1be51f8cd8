// Records of several ranks' steps as a trace that Perfetto and chrome://tracing show.
#pragma once

#include "runtime/run/Plan.h"
#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/run/trace/StepRecord.h"

#include <span>
#include <string>
#include <vector>

namespace syncline {

/// A record whose start is clockSeconds(), so that it can be sent and moved to another clock.
struct TracedStep {
  std::int64_t step = 0;
  double start = 0; ///< seconds
  std::vector<StepRecord::Span> operations;
  std::vector<BucketTiming> buckets;
};

/// The records as numbers, and back. The latter is empty-handed (internal) for numbers that the
/// former did not give for so many operations.
std::vector<double> packRecords(std::span<const StepRecord> records);
Result<std::vector<TracedStep>> unpackRecords(std::span<const double> numbers,
                                              std::size_t operations);

/// What a trace is made of; everything by rank 0's clock.
struct Trace {
  std::vector<std::vector<TracedStep>> ranks; ///< by rank
  double clockError = 0;                      ///< no rank's clock is further off; seconds
};

/// The steps that all ranks sent to rank 0, where `before` and `after` were measured around them.
Result<Trace> alignTrace(const std::vector<std::vector<double>> &collected,
                         std::span<const ClockOffset> before, std::span<const ClockOffset> after,
                         std::size_t operations);

/// JSON, an event a line. Complete events: ts and dur in microseconds from the first step's start,
/// pid = rank, tid 0 = the computing thread, 1 + c = channel c; cat "compute", "message", "wait" or
/// "update"; args {"step", "layer", "phase", "bucket", "bytes" (updated), "scheme", "ready"} as far
/// as they apply. A message's `ready` is when it was issued. Flows lead from the operation that
/// completes a bucket to its message and on to its update, or where there is none to its wait;
/// their id is (step·buckets + bucket)·ranks + rank. Issuing, which takes no time, has no event.
std::string traceText(const Plan &plan, const StepRunner &runner, const Trace &trace);

} // namespace syncline
