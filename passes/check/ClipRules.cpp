// Rule P32: programs that clip gradients by the norm of all of them.
#include "passes/check/PlanFacts.h"

#include "ir/plan/Plan.h"

using namespace mlir;

namespace syncline::check {

LogicalResult checkClipping(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  if (!plan::clipNormOf(program))
    return success();
  if (program.getOverlap())
    return program.emitOpError("P32: expected no overlap with 'clip_norm', whose updates follow "
                               "the last message");
  if (program.getConsistency())
    return program.emitOpError("P32: expected no consistency with 'clip_norm', which is for "
                               "gradients that travel");
  return success();
}

} // namespace syncline::check
