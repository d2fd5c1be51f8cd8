// The order in which a step's operations execute: computation, messages, updates.
#pragma once

#include "ir/plan/Plan.h"
#include "passes/lower/Buckets.h"

namespace syncline::lower {

enum class ActionKind { compute, copy, loss, issue, gather, allGather, wait, update };

/// Behind which computation a step's messages may hide.
enum class Overlap {
  backward, ///< the backward pass: the step waits for them at its end
  step,     ///< also the next forward pass: it waits for a bucket where it needs the parameters
};

/// One operation of the plan that executes. Its number is its index in the schedule.
struct Action {
  ActionKind kind;
  plan::Phase phase;
  mlir::Operation *op = nullptr; ///< the nn operation, for compute and loss
  std::int64_t bucket = -1;      ///< for copy, issue, gather, allGather, wait and update
  std::int64_t member = -1;      ///< for copy: the member whose gradient is copied
};

/// Orders a step's operations. Forward and backward keep their program order. A bucket is issued
/// (or its factors gathered) right after the operation that completes it, but after the buckets
/// before it on its channel, and never in the forward phase, which evaluation runs alone. A bucket
/// whose message writes its parameters also follows the last operation that reads one of them. The
/// all-gather of a bucket in halves is handed over right behind the message before it there.
/// At the end, in bucket order, stand the wait, the computation of gradients from gathered factors,
/// and the update. With Overlap::step these stand right before the first operation of the forward
/// pass that reads a parameter of the bucket; there they concern the message of the step before.
/// Buckets without such a reader keep their place at the end. Fails on an operation without kernel.
mlir::FailureOr<std::vector<Action>> schedule(nn::StepOp step, const Messages &messages,
                                              Overlap overlap);

} // namespace syncline::lower
