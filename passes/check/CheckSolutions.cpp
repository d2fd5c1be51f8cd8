// The pass `check-solutions`: judges solutions and their certificates without any solver's code.
#include "passes/Passes.h"
#include "passes/check/CheckSchemes.h"
#include "passes/check/SameCost.h"
#include "passes/merge/MergeOps.h"
#include "passes/proof/SolutionChecker.h"

#include <algorithm>
#include <limits>

namespace syncline {
#define GEN_PASS_DEF_CHECKSOLUTIONS
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {

/// Whether two solutions have the same messages, with equal schemes and layers, and piggybacks.
bool isSame(const problem::Problem &problem, const problem::Solution &a,
            const problem::Solution &b) {
  const auto sameMessage = [&](const problem::Message &x, const problem::Message &y) {
    return x.layers == y.layers && x.isFactors == y.isFactors && x.mergeClass == y.mergeClass &&
           a.scheme(problem, x) == b.scheme(problem, y);
  };
  return a.piggybacks == b.piggybacks && std::ranges::equal(a.messages, b.messages, sameMessage);
}

/// Rule S17: a solution that names a planner must be one that this planner could give. A solution
/// written by hand must name another planner.
LogicalResult checkPlanner(sync::SolutionOp op, const problem::Problem &problem,
                           const problem::Solution &plan) {
  Result<std::shared_ptr<const solver::Planner>> planner =
      solver::parsePlanner(op.getPlanner().str());
  if (!planner)
    return success();
  if ((*planner)->isRule()) {
    Result<problem::Solution> ruled = (*planner)->follow(problem);
    if (!ruled || !isSame(problem, *ruled, plan))
      return op.emitOpError("S17: is not what planner '") << op.getPlanner() << "' gives";
    return success();
  }
  const std::size_t most =
      (*planner)->maxMessages().value_or(std::numeric_limits<std::size_t>::max());
  if (plan.messages.size() > most)
    return op.emitOpError("S17: has ") << plan.messages.size() << " messages, which planner '"
                                       << op.getPlanner() << "' does not allow";
  if (!differ(plan.finish, op.getBound().convertToDouble()))
    return success(); // the certificate proves that no solution is better
  std::optional<problem::Solution> ruled = solver::bestRuledSolution(problem, most);
  if (ruled && differ(plan.finish, ruled->finish) && plan.finish > ruled->finish)
    return op.emitOpError("S17: planner '")
           << op.getPlanner() << "' finishes at " << plan.finish
           << " s, but a plan by a rule finishes at " << ruled->finish << " s";
  return success();
}

LogicalResult check(sync::SolutionOp op) {
  FailureOr<sync::ProblemOp> problemOp = problemOf(op);
  if (failed(problemOp))
    return failure();
  FailureOr<problem::Problem> problem = toProblem(*problemOp);
  if (failed(problem))
    return failure();
  FailureOr<problem::Solution> plan = toPlan(op, *problem);
  if (failed(plan))
    return failure();
  if (auto rejection = proof::checkSolution(*problem, *plan))
    return op.emitOpError(rejection->message);
  if (failed(checkPlanner(op, *problem, *plan)))
    return failure();
  const double bound = op.getBound().convertToDouble();
  std::optional<problem::BoundProof> proof = toProof(op);
  if (!proof) {
    if (bound != 0)
      return op.emitOpError("claims the bound ") << bound << " without a certificate";
    return success();
  }
  if (auto reason = proof::checkProof(*problem, *proof, plan->finish, /*optimal=*/false))
    return op.emitOpError(*reason);
  if (const double proved = problem::boundOf(*problem, *proof); bound != proved)
    return op.emitOpError("claims the bound ") << bound << ", the certificate proves " << proved;
  return success();
}

/// Checks that the problem belongs to the cluster and the trace beside it. A module without a
/// cluster is no plan and passes.
LogicalResult checkProblem(ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  const auto problems = module.getOps<sync::ProblemOp>();
  const auto solutions = module.getOps<sync::SolutionOp>();
  if (!spec || solutions.empty())
    return success();
  if (!llvm::hasSingleElement(problems) || !llvm::hasSingleElement(solutions))
    return (*solutions.begin()).emitOpError("expected one problem and one solution of a cluster");
  if (failed(checkSchemes(*problems.begin(), spec)))
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
