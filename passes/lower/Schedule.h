// The order in which a step's operations execute: computation, messages, updates.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/lower/Buckets.h"

namespace syncline::lower {

enum class ActionKind { compute, copy, loss, issue, wait, update };

/// One operation of the plan that executes. Its number is its place in the schedule.
struct Action {
  ActionKind kind;
  plan::Phase phase;
  mlir::Operation *op = nullptr; ///< of compute and loss: the nn operation
  std::int64_t bucket = -1;      ///< of copy, issue, wait and update
  std::int64_t member = -1;      ///< of copy: whose gradient is copied to its place
};

/// Forward and backward in program order. A bucket is issued right after the operation that
/// completes it, but after the buckets before it on its channel; waits and updates stand at the
/// end, in bucket order. Fails on an operation that no kernel carries out.
mlir::FailureOr<std::vector<Action>> schedule(nn::StepOp step, std::vector<Bucket> &buckets);

} // namespace syncline::lower
