// Asks the planner of memory, with one message of all gradients.
#include "passes/recompute/StepArena.h"

#include "passes/lower/Lifetimes.h"
#include "passes/lower/Schedule.h"

using namespace mlir;

namespace syncline::recompute {

FailureOr<std::int64_t> stepArena(nn::StepOp step, bool rounds) {
  lower::Messages messages;
  lower::Bucket all;
  all.completedBy = 0; // its own message brings all of its gradients
  for (auto update : step.getOps<nn::UpdateOp>()) {
    all.message = update;
    all.members.push_back(
        {update.getParameter().getDefiningOp<nn::ParameterOp>(), update.getGradient()});
  }
  if (all.message)
    messages.buckets.push_back(std::move(all));
  FailureOr<std::vector<lower::Action>> actions =
      lower::schedule(step, messages, lower::Overlap::backward);
  if (failed(actions))
    return failure();
  FailureOr<lower::Arena> arena = lower::planArena(step, *actions, messages.buckets, rounds);
  if (failed(arena))
    return failure();
  return arena->bytes;
}

} // namespace syncline::recompute
