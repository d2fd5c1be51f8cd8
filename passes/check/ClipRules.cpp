// Rule P32: programs that clip gradients by the norm of all of them.
#include "passes/check/PlanFacts.h"

#include "ir/plan/ClipAttr.h"

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
  for (auto [number, bucket] : facts.buckets)
    if (plan::updatesItself(bucket))
      return reject(bucket,
                    "P32: travels by 'reduce-scatter', which updates parameters before the norm "
                    "of all gradients is known",
                    program, "this program has 'clip_norm'");
  return success();
}

} // namespace syncline::check
