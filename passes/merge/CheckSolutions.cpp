// Pass `check-solutions`: judges claimed solutions and their certificates without any solver's
// code.
#include "passes/Passes.h"
#include "passes/merge/CheckOffer.h"
#include "passes/merge/MergeOps.h"
#include "passes/solver/joint/JointChecker.h"

namespace syncline {
#define GEN_PASS_DEF_CHECKSOLUTIONS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

LogicalResult check(sync::SolutionOp op) {
  FailureOr<sync::ProblemOp> problemOp = problemOf(op);
  if (failed(problemOp))
    return failure();
  FailureOr<solver::JointProblem> problem = toJointProblem(*problemOp);
  if (failed(problem))
    return failure();
  FailureOr<solver::JointPlan> plan = toPlan(op, *problem);
  if (failed(plan))
    return failure();
  if (auto rejection = solver::checkJointPlan(*problem, *plan))
    return op.emitOpError(rejection->message);
  const double bound = op.getBound().convertToDouble();
  std::optional<solver::BoundProof> proof = toProof(op);
  if (!proof) {
    if (bound != 0)
      return op.emitOpError("claims the bound ") << bound << " without a certificate";
    return success();
  }
  if (auto reason = solver::checkProof(*problem, *proof, plan->finish, /*optimal=*/false))
    return op.emitOpError(*reason);
  if (const double proved = solver::boundOf(*problem, *proof); bound != proved)
    return op.emitOpError("claims the bound ") << bound << ", the certificate proves " << proved;
  return success();
}

/// Whether the problem is that of the cluster and the trace beside it. What states no cluster is no
/// plan.
LogicalResult checkProblem(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const auto problems = module.getOps<sync::ProblemOp>();
  const auto solutions = module.getOps<sync::SolutionOp>();
  if (!spec || solutions.empty())
    return success();
  if (!llvm::hasSingleElement(problems) || !llvm::hasSingleElement(solutions))
    return (*solutions.begin()).emitOpError("expected one problem and one solution of a cluster");
  if (failed(checkOffer(*problems.begin(), spec)))
    return failure();
  for (auto trace : module.getOps<sync::TraceOp>())
    if (failed(checkTrace(*problems.begin(), trace, spec)))
      return failure();
  return success();
}

struct CheckSolutions : syncline::impl::CheckSolutionsBase<CheckSolutions> {
  void runOnOperation() override {
    if (failed(checkProblem(getOperation())))
      return signalPassFailure();
    for (auto solution : getOperation().getOps<sync::SolutionOp>())
      if (failed(check(solution)))
        return signalPassFailure();
  }
};
} // namespace
