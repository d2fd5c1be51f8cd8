// The pass `check-solutions`: judges solutions and their certificates.
#include "ir/Try.h"
#include "ir/sync/Consistency.h"
#include "passes/Passes.h"
#include "passes/check/CheckSchemes.h"
#include "passes/merge/ReadProblem.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"

namespace syncline {
#define GEN_PASS_DEF_CHECKSOLUTIONS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

/// S18: the certificate of an order.
LogicalResult checkOrderProof(sync::SolutionOp op, const problem::OrderProblem &problem,
                              const problem::Solution &plan) {
  const std::optional<problem::OrderCertificate> proof = merge::toOrderProof(op);
  if (!proof)
    return op.emitOpError("S18: expected a certificate '#sync.order', as the problem has 'tails', "
                          "and no 'cases' or such of which it is the one that proves least");
  if (auto rejection = proof::checkOrderBound(problem, *proof, plan.finish))
    return op.emitOpError(rejection->message);
  return success();
}

LogicalResult checkSolution(sync::SolutionOp op) {
  SYNCLINE_TRY_MLIR(problemOp, merge::problemOf(op));
  SYNCLINE_TRY_MLIR(problem, merge::toProblem(*problemOp));
  const problem::Solution plan = merge::toSolution(op, *problem);
  if (auto reason = merge::rejectionOf(*problemOp, *problem, plan))
    return op.emitOpError(*reason);
  if (const std::optional<problem::OrderProblem> order =
          merge::toOrderProblem(*problemOp, *problem))
    return checkOrderProof(op, *order, plan);
  const double bound = op.getBound().convertToDouble();
  std::optional<problem::BoundProof> proof = merge::toProof(op);
  if (!proof) {
    if (bound != 0)
      return op.emitOpError("claims the bound ") << bound << " without a certificate";
    return success();
  }
  if (auto reason = proof::checkProof(*problem, *proof, plan.finish, /*optimal=*/false))
    return op.emitOpError(*reason);
  if (const double proved = problem::boundOf(*problem, *proof); bound != proved)
    return op.emitOpError("claims the bound ") << bound << ", the certificate proves " << proved;
  return success();
}

/// Checks that the problem belongs to the cluster and the trace beside it. A module without a
/// cluster is no plan and passes.
LogicalResult checkProblem(ModuleOp module) {
  const cluster::SpecAttr spec = sync::gradientCluster(module);
  const auto problems = module.getOps<sync::ProblemOp>();
  const auto solutions = module.getOps<sync::SolutionOp>();
  if (!spec || solutions.empty())
    return success();
  if (!llvm::hasSingleElement(problems) || !llvm::hasSingleElement(solutions))
    return (*solutions.begin()).emitOpError("expected one problem and one solution of a cluster");
  sync::ProblemOp op = *problems.begin();
  const problem::Problem problem = merge::statedProblem(op);
  if (failed(check::checkSchemes(op, problem, spec)))
    return failure();
  for (auto trace : module.getOps<sync::TraceOp>())
    if (failed(check::checkTrace(op, problem, trace, spec)))
      return failure();
  return success();
}

struct CheckSolutions : syncline::impl::CheckSolutionsBase<CheckSolutions> {
  void runOnOperation() override {
    if (failed(checkProblem(getOperation())))
      return signalPassFailure();
    for (auto solution : getOperation().getOps<sync::SolutionOp>())
      if (failed(checkSolution(solution)))
        return signalPassFailure();
  }
};
} // namespace
