// Pass `check-solutions`: judges claimed solutions and their certificates without any solver's
// code.
#include "passes/Passes.h"
#include "passes/merge/MergeOps.h"
#include "passes/solver/MergeChecker.h"

#include <cmath>

namespace syncline {
#define GEN_PASS_DEF_CHECKSOLUTIONS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

LogicalResult reject(sync::SolutionOp op, const std::optional<solver::Rejection> &rejection) {
  if (rejection)
    return op.emitOpError(rejection->message);
  return success();
}

LogicalResult check(sync::SolutionOp op) {
  FailureOr<sync::ProblemOp> problemOp = problemOf(op);
  if (failed(problemOp))
    return failure();
  FailureOr<solver::MergeProblem> problem = toMergeProblem(*problemOp);
  if (failed(problem))
    return failure();
  FailureOr<solver::Solution> solution = toSolution(op, *problem);
  if (failed(solution) || failed(reject(op, solver::checkSolution(*problem, *solution))))
    return failure();
  double bound = op.getBound().convertToDouble();
  if (!op.getCertificate()) {
    if (bound > 0)
      return op.emitOpError("claims the bound ") << bound << " without a certificate";
    return success();
  }
  solver::Certificate certificate{
      {op.getCertificate()->getValues().begin(), op.getCertificate()->getValues().end()}};
  if (failed(reject(op, solver::checkBound(*problem, certificate))))
    return failure();
  if (bound != certificate.earliestFinish.back())
    return op.emitOpError("claims the bound ")
           << bound << ", the certificate proves " << certificate.earliestFinish.back();
  return success();
}

struct CheckSolutions : syncline::impl::CheckSolutionsBase<CheckSolutions> {
  void runOnOperation() override {
    for (auto solution : getOperation().getOps<sync::SolutionOp>())
      if (failed(check(solution)))
        return signalPassFailure();
  }
};
} // namespace
