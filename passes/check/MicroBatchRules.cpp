// Rule P36: programs whose steps add up the gradients of several batches.
#include "passes/check/PlanFacts.h"

#include "ir/plan/Plan.h"
#include "syncline/RowsPart.h"

using namespace mlir;

namespace syncline::check {

LogicalResult checkMicroBatches(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  if (plan::microBatchesOf(program) == 1)
    return success();
  if (program.getConsistency())
    return program.emitOpError("P36: expected no consistency with 'accumulate', which is for "
                               "gradients that travel");
  for (auto bucket : program.getOps<plan::BucketOp>())
    for (auto member : bucket.getMembers().getAsRange<StringAttr>())
      if (isRowsPart(member.getValue()))
        return bucket.emitOpError("P36: expected no gradient in two parts with 'accumulate', got "
                                  "'")
               << member.getValue() << "', which would be added in each micro-batch";
  return success();
}

} // namespace syncline::check
