// Writing the records of several ranks as a trace for Perfetto and chrome://tracing.
#pragma once

#include "runtime/run/plan/Plan.h"
#include "runtime/run/trace/ClockAlignment.h"
#include "runtime/run/trace/ServerTracks.h"
#include "runtime/run/trace/StepRecord.h"

#include <span>
#include <string>
#include <vector>

namespace syncline::run {

/// A record whose start is in clockSeconds(), so that it can be sent and converted to
/// another clock.
struct TracedStep {
  std::int64_t step = 0;
  double start = 0; ///< seconds
  std::vector<StepRecord::Span> operations;
  std::vector<core::BucketTiming> buckets;
  std::vector<StepRecord::Request> requests;
};

/// Converts records to numbers and back. unpackRecords() fails (internal) for numbers that
/// packRecords() does not produce for `operations` operations.
std::vector<double> packRecords(std::span<const StepRecord> records);
Result<std::vector<TracedStep>> unpackRecords(std::span<const double> numbers,
                                              std::size_t operations);

/// The contents of a trace. All times are by rank 0's clock.
struct Trace {
  std::vector<std::vector<TracedStep>> ranks; ///< by rank
  std::vector<TracedServer> servers;
  double clockError = 0; ///< bound on every rank's clock error, in seconds
};

/// Converts the steps that all workers sent to rank 0 to its clock, by the offsets of all ranks
/// measured before and after the steps. Leaves `servers` empty.
Result<Trace> alignTrace(const std::vector<std::vector<double>> &collected,
                         std::span<const ClockOffset> before, std::span<const ClockOffset> after,
                         std::size_t operations);

/// The trace as JSON with one event on each line. Complete events have ts and dur in microseconds
/// from the start of the first step or request; pid is the rank; tid is 0 for the computing thread
/// and 1 + c for channel c; cat is "compute", "message", "wait" or "update"; args has "step",
/// "layer", "phase", "bucket", "bytes" (updated), "scheme" and "ready" where they apply. A
/// message's `ready` is the time of its issue. A flow leads from the operation that completes a
/// bucket to its message and on to its update, or to its wait where there is no update; its id is
/// (step·buckets + bucket)·ranks + rank. Issuing takes no time and has no event. A message has the
/// number of the step that issued it, which may end before the message does. It is left out if that
/// step is not traced, and has no flow if a drain waited for it.
///
/// Where weights travel by servers, a track "values" has the worker's messages "push", "read" and
/// "elastic", and a track "ticks" its messages "tick" and, from the moment when it needs it, the
/// wait for the "grant". Their args have "clock", the number of complete steps that the request
/// states, and "step", the one in which it ended; a push with clock c has the update of step c - 1.
/// Inside a read that a server parked is an event "parked", and inside a grant that the server held
/// back an event "held back"; the args of both have "held_us", by the server's clock. Where grants
/// are never held back, they are read one step late.
///
/// Each server is a process of its own behind the ranks, also where it is a part of a worker's
/// process; pid is the number of workers plus its number. For each worker it has a track with the
/// events "receive" (an update's values come), "add" (it is added, under the lock where there is
/// one), "parked" (a read waits for clocks) and "send" (values are copied and sent). The first
/// server has one more track for each worker, with the events "grant", from a tick to its answer.
/// Their cat is "server", and their args have "worker" and "clock".
std::string traceText(const Plan &plan, const core::StepRunner &runner, const Trace &trace);

} // namespace syncline::run
