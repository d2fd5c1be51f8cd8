// The pass `check-plan`: judges a plan by the rules of ir/plan/SPEC.md.
#include "passes/Passes.h"
#include "passes/check/PlanFacts.h"

namespace syncline {
#define GEN_PASS_DEF_CHECKPLAN
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

LogicalResult checkProgram(plan::ProgramOp program) {
  FailureOr<check::PlanFacts> facts = check::gather(program);
  return failure(
      failed(facts) || failed(check::checkBuckets(*facts)) || failed(check::checkHalves(*facts)) ||
      failed(check::checkRowsParts(*facts)) || failed(check::checkCarried(*facts)) ||
      failed(check::checkSchemes(*facts)) || failed(check::checkClipping(*facts)) ||
      failed(check::checkMicroBatches(*facts)) || failed(check::checkMemory(*facts)) ||
      failed(check::checkExchanges(*facts, program->getParentOfType<ModuleOp>())) ||
      failed(check::checkAgainstSolution(*facts, program->getParentOfType<ModuleOp>())) ||
      failed(check::checkFactors(*facts, program->getParentOfType<ModuleOp>())));
}

struct CheckPlan : syncline::impl::CheckPlanBase<CheckPlan> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      if (failed(checkProgram(program)))
        return signalPassFailure();
    if (failed(check::checkPrediction(getOperation())) ||
        failed(check::checkDisturbed(getOperation())) || failed(check::checkRange(getOperation())))
      signalPassFailure();
  }
};

} // namespace
