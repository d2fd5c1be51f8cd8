// The pass `solve-merge`: a planner solves every problem of the module, and the checker judges
// the solution.
#include "ir/Refusal.h"
#include "ir/Try.h"
#include "passes/Passes.h"
#include "passes/merge/ReadProblem.h"
#include "passes/merge/WriteProblem.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"
#include "syncline/PlanConstants.h"

namespace syncline {
#define GEN_PASS_DEF_SOLVEMERGE
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

namespace {
struct SolveMerge : syncline::impl::SolveMergeBase<SolveMerge> {
  using SolveMergeBase::SolveMergeBase;
  SolveMerge(std::shared_ptr<const solver::Planner> given, int count) : given(std::move(given)) {
    channels = count;
  }

  void runOnOperation() override {
    if (channels < 1 || channels > maxChannels) {
      getOperation().emitError("expected 1 to ")
          << maxChannels << " channels, got " << channels.getValue();
      return signalPassFailure();
    }
    Result<std::shared_ptr<const solver::Planner>> chosen =
        given ? given : solver::parsePlanner(planner);
    if (!chosen) {
      getOperation().emitError(chosen.status().message());
      return signalPassFailure();
    }
    llvm::SmallVector<sync::ProblemOp> problems(getOperation().getOps<sync::ProblemOp>());
    for (sync::ProblemOp problem : problems)
      if (failed(solve(problem, **chosen)))
        return signalPassFailure();
  }

  LogicalResult solve(sync::ProblemOp op, const solver::Planner &planner) {
    SYNCLINE_TRY_MLIR(problem, toProblem(op));
    if (const std::optional<problem::OrderProblem> order = toOrderProblem(op, *problem))
      return solveOrder(op, *order, planner);
    Result<solver::PlanResult> result = planner.plan(*problem);
    if (!result)
      return refuseOrFail(op, result.status());
    if (auto rejection = proof::checkSolution(*problem, result->plan))
      return op.emitError("planner '") << planner.name() << "' is wrong: " << rejection->message;
    result->plan.takeTurns(channels);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    createSolution(builder, op, *problem, planner.name(), result->plan, result->proof,
                   result->bound);
    return success();
  }

  /// Reports that a planner has no answer: the user's error, or our own.
  static LogicalResult refuseOrFail(sync::ProblemOp op, const Status &status) {
    const bool isOurs = status.kind() == ErrorKind::internal;
    return (isOurs ? op.emitError() : refuse(op.getLoc())) << status.message();
  }

  LogicalResult solveOrder(sync::ProblemOp op, const problem::OrderProblem &problem,
                           const solver::Planner &planner) {
    if (Status valid = problem::validate(problem); !valid)
      return op.emitOpError(valid.message());
    const Result<solver::OrderResult> result = solver::planOrder(problem, planner);
    if (!result)
      return refuseOrFail(op, result.status());
    problem::Solution messages = problem::messagesOf(problem, result->solution);
    if (auto rejection = proof::checkMessages(problem, messages))
      return op.emitError("planner '") << planner.name() << "' is wrong: " << rejection->message;
    messages.takeTurns(channels);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    createSolution(builder, op, problem.sync, planner.name(), messages, result->certificate);
    return success();
  }

  std::shared_ptr<const solver::Planner> given; ///< replaces the one that the option names
};
} // namespace

std::unique_ptr<Pass> syncline::createSolveMerge(std::shared_ptr<const solver::Planner> planner,
                                                 int channels) {
  return std::make_unique<SolveMerge>(std::move(planner), channels);
}
