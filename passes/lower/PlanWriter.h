// Writes a scheduled step as a plan.program.
#pragma once

#include "passes/lower/Lifetimes.h"

namespace syncline::lower {

/// All decisions of lowering about a step.
struct Decisions {
  std::int64_t ranks = 1;
  std::int64_t servers = 0; ///< processes besides the ranks
  Overlap overlap = Overlap::backward;
  std::vector<Bucket> buckets;
  std::vector<Action> actions;
  Arena arena;
};

/// Creates the program before the step, which stays unchanged. Fails on an element type that plans
/// do not support.
mlir::FailureOr<plan::ProgramOp> writePlan(nn::StepOp step, const Decisions &decisions);

} // namespace syncline::lower
