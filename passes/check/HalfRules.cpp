// Rule P30: buckets that travel in halves.
#include "passes/check/PlanFacts.h"

using namespace mlir;

namespace syncline::check {

/// P30b: one all-gather, behind the issue in the same step, and before the wait unless the next
/// step waits.
static LogicalResult checkPlace(const PlanFacts &facts, std::int64_t number,
                                llvm::ArrayRef<std::int64_t> allGathers) {
  const std::int64_t issue = PlanFacts::only(facts.issues, number),
                     wait = PlanFacts::only(facts.waits, number), at = allGathers.front();
  if (allGathers.size() > 1)
    return reject(facts.steps[allGathers[1]].op,
                  "P30: gathers bucket " + llvm::Twine(number) + " twice", facts.steps[at].op,
                  "first here");
  if (at < issue)
    return reject(facts.steps[at].op,
                  "P30: gathers bucket " + llvm::Twine(number) + " before it is issued",
                  facts.steps[issue].op, "issued here");
  if (!facts.isInFlight(number, at))
    return reject(facts.steps[at].op,
                  "P30: gathers bucket " + llvm::Twine(number) + " after it was waited for",
                  facts.steps[wait].op, "waited for here");
  return success();
}

LogicalResult checkHalves(const PlanFacts &facts) {
  plan::ProgramOp program = facts.program;
  for (auto [number, bucket] : facts.buckets) {
    const auto found = facts.allGathers.find(number);
    const bool isHalved = plan::BucketOp(bucket).getHalved();
    if (found == facts.allGathers.end()) {
      if (isHalved)
        return plan::BucketOp(bucket).emitOpError("P30: travels in halves, but 'plan.all_gather' "
                                                  "never hands over the second one");
      continue;
    }
    Operation *allGather = facts.steps[found->second.front()].op;
    if (!hasHalves(plan::BucketOp(bucket).getScheme()))
      return reject(allGather,
                    "P30: gathers bucket " + llvm::Twine(number) + ", which travels by '" +
                        schemeName(plan::BucketOp(bucket).getScheme()) + "' and not in halves",
                    bucket, "declared here");
    if (!program.getOverlap())
      return reject(allGather,
                    "P30: gathers bucket " + llvm::Twine(number) +
                        " by itself, which needs overlap = \"step\"",
                    program, "this program");
    if (!isHalved)
      return reject(allGather,
                    "P30: gathers bucket " + llvm::Twine(number) + ", which is not 'halved'",
                    bucket, "declared here");
    if (failed(checkPlace(facts, number, found->second)))
      return failure();
  }
  return success();
}

} // namespace syncline::check
