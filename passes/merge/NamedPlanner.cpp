// Asks planners again what they give.
#include "passes/merge/NamedPlanner.h"

#include "passes/merge/ReadProblem.h"
#include "passes/problem/OrderMessages.h"
#include "passes/problem/Rounding.h"
#include "passes/solver/Gathering.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

/// Whether both messages are whole, or their all-gathers have the same place.
static bool hasSameHalves(const problem::Message &x, const problem::Message &y) {
  return x.gather.has_value() == y.gather.has_value() &&
         (!x.gather || x.gather->place == y.gather->place);
}

/// Whether two solutions have the same messages, with equal schemes and layers, and piggybacks.
static bool isSame(const problem::Problem &problem, const problem::Solution &a,
                   const problem::Solution &b) {
  const auto sameMessage = [&](const problem::Message &x, const problem::Message &y) {
    return x.layers == y.layers && x.cutBefore == y.cutBefore && x.cutBehind == y.cutBehind &&
           hasSameHalves(x, y) && x.isFactors == y.isFactors && x.mergeClass == y.mergeClass &&
           a.scheme(problem, x) == b.scheme(problem, y);
  };
  return a.piggybacks == b.piggybacks && std::ranges::equal(a.messages, b.messages, sameMessage);
}

static std::optional<problem::OrderProblem> orderProblemOf(sync::SolutionOp op,
                                                           const problem::Problem &problem) {
  FailureOr<sync::ProblemOp> stated = merge::problemOf(op);
  return succeeded(stated) ? merge::toOrderProblem(*stated, problem) : std::nullopt;
}

/// S17f: "sums" gathers nothing where a gradient has another way.
static LogicalResult checkGathersNothing(sync::SolutionOp op, const problem::Problem &problem,
                                         const problem::Solution &plan) {
  for (const problem::Message &message : plan.messages)
    if (message.isFactors && problem.layers[message.layers.front()].mergeClasses != 0)
      return op.emitOpError("S17: gathers what could be summed, which planner 'sums' never does");
  return success();
}

/// S17f: no plan by a rule that gathers nothing finishes before that of "sums".
static LogicalResult checkSums(sync::SolutionOp op, const problem::Problem &problem,
                               const problem::Solution &plan) {
  const Result<problem::Problem> sums = solver::withoutGathering(problem);
  const std::optional<problem::Solution> ruled =
      sums ? solver::bestRuledSolution(*sums) : std::nullopt;
  if (ruled && problem::differ(plan.finish, ruled->finish) && plan.finish > ruled->finish)
    return op.emitOpError("S17: planner 'sums' finishes at ")
           << plan.finish << " s, but a plan by a rule finishes at " << ruled->finish << " s";
  return success();
}

/// S17a and S17b for an order. A rule's order is its messages in ready order, and no order by
/// "optimal" has a longer period than the exact solution in ready order.
static LogicalResult checkOrder(sync::SolutionOp op, const problem::OrderProblem &problem,
                                const solver::Planner &planner, const problem::Solution &plan) {
  if (planner.isRule()) {
    Result<problem::OrderSolution> ruled = solver::followOrder(problem, planner);
    if (!ruled || !isSame(problem.sync, problem::messagesOf(problem, *ruled), plan))
      return op.emitOpError("S17: is not what planner '") << op.getPlanner() << "' gives";
    return success();
  }
  std::optional<problem::Solution> ruled = solver::bestRuledSolution(
      problem.sync, planner.maxMessages().value_or(std::numeric_limits<std::size_t>::max()));
  if (!ruled || !planner.isOptimal())
    return success();
  const double period = solver::orderOf(problem, *ruled).period;
  if (problem::differ(plan.finish, period) && plan.finish > period)
    return op.emitOpError("S17: planner '")
           << op.getPlanner() << "' has a period of " << plan.finish
           << " s, but a plan by a rule one of " << period << " s";
  return success();
}

LogicalResult syncline::merge::checkPlanner(sync::SolutionOp op, const problem::Problem &problem,
                                            const problem::Solution &plan) {
  Result<std::shared_ptr<const solver::Planner>> planner =
      solver::parsePlanner(op.getPlanner().str());
  if (!planner)
    return success();
  if ((*planner)->sumsOnly() && failed(checkGathersNothing(op, problem, plan)))
    return failure();
  if (std::optional<problem::OrderProblem> order = orderProblemOf(op, problem))
    return checkOrder(op, *order, **planner, plan);
  if ((*planner)->isRule()) {
    Result<problem::Solution> ruled = (*planner)->follow(problem);
    if (!ruled || !isSame(problem, *ruled, plan))
      return op.emitOpError("S17: is not what planner '") << op.getPlanner() << "' gives";
    return success();
  }
  if ((*planner)->gatherPrice())
    return (*planner)->sumsOnly() ? checkSums(op, problem, plan) : success();
  const std::size_t most =
      (*planner)->maxMessages().value_or(std::numeric_limits<std::size_t>::max());
  if (plan.messages.size() > most)
    return op.emitOpError("S17: has ") << plan.messages.size() << " messages, which planner '"
                                       << op.getPlanner() << "' does not allow";
  if (!problem::differ(plan.finish, op.getBound().convertToDouble()))
    return success(); // the certificate proves that no solution is better
  std::optional<problem::Solution> ruled = solver::bestRuledSolution(problem, most);
  if (ruled && problem::differ(plan.finish, ruled->finish) && plan.finish > ruled->finish)
    return op.emitOpError("S17: planner '")
           << op.getPlanner() << "' finishes at " << plan.finish
           << " s, but a plan by a rule finishes at " << ruled->finish << " s";
  return success();
}
