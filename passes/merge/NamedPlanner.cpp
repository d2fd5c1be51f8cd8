// Asks planners again what they give.
#include "passes/merge/NamedPlanner.h"

#include "passes/problem/Rounding.h"
#include "passes/solver/Planner.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace syncline;
using namespace syncline::merge;

/// Whether two solutions have the same messages, with equal schemes and layers, and piggybacks.
static bool isSame(const problem::Problem &problem, const problem::Solution &a,
                   const problem::Solution &b) {
  const auto sameMessage = [&](const problem::Message &x, const problem::Message &y) {
    return x.layers == y.layers && x.isFactors == y.isFactors && x.mergeClass == y.mergeClass &&
           a.scheme(problem, x) == b.scheme(problem, y);
  };
  return a.piggybacks == b.piggybacks && std::ranges::equal(a.messages, b.messages, sameMessage);
}

LogicalResult syncline::merge::checkPlanner(sync::SolutionOp op, const problem::Problem &problem,
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
  if (!problem::differ(plan.finish, op.getBound().convertToDouble()))
    return success(); // the certificate proves that no solution is better
  std::optional<problem::Solution> ruled = solver::bestRuledSolution(problem, most);
  if (ruled && problem::differ(plan.finish, ruled->finish) && plan.finish > ruled->finish)
    return op.emitOpError("S17: planner '")
           << op.getPlanner() << "' finishes at " << plan.finish
           << " s, but a plan by a rule finishes at " << ruled->finish << " s";
  return success();
}
