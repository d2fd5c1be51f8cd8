// The order in which a step's operations execute: computation, messages, updates.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/lower/Buckets.h"

namespace syncline::lower {

enum class ActionKind { compute, copy, loss, issue, gather, wait, update };

/// One operation of the plan that executes. Its number is its place in the schedule.
struct Action {
  ActionKind kind;
  plan::Phase phase;
  mlir::Operation *op = nullptr; ///< of compute and loss: the nn operation
  std::int64_t bucket = -1;      ///< of copy, issue, gather, wait and update
  std::int64_t member = -1;      ///< of copy: whose gradient is copied to its place
};

/// Forward and backward in program order. A bucket is issued (or its factors gathered) right after
/// the operation that completes it, but in the backward phase, which evaluation leaves out, and
/// after the buckets before it on its channel; a bucket whose message writes its parameters also
/// after the last operation that reads one of them. At the end, in bucket order: wait, computation
/// of gradients from what was gathered, update. Fails on an operation that no kernel carries out.
mlir::FailureOr<std::vector<Action>> schedule(nn::StepOp step, const Messages &messages);

} // namespace syncline::lower
