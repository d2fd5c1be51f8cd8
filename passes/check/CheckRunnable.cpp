// The pass `check-runnable`: judges whether a run accepts the plan, by the rules of ir/plan/SPEC.md
// about what a runtime needs besides a valid program.
#include "passes/Passes.h"
#include "passes/check/PlanFacts.h"

namespace syncline {
#define GEN_PASS_DEF_CHECKRUNNABLE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

struct CheckRunnable : syncline::impl::CheckRunnableBase<CheckRunnable> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<plan::ProgramOp>()) {
      FailureOr<check::PlanFacts> facts = check::gather(program);
      if (failed(facts) || failed(check::checkOperands(*facts)) ||
          failed(check::checkStorage(*facts)))
        return signalPassFailure();
    }
  }
};

} // namespace
