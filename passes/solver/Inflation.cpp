// Scales the costs of messages.
#include "passes/solver/Inflation.h"

namespace syncline::solver {
namespace {

/// A cost that is so many times another one.
class ScaledCost final : public PiecewiseCost {
public:
  ScaledCost(const CollectiveCost &cost, double times) : PiecewiseCost(scaled(cost, times)) {}

private:
  static std::vector<CostSegment> scaled(const CollectiveCost &cost, double times) {
    const auto pieces = cost.segments();
    std::vector<CostSegment> result(pieces.begin(), pieces.end());
    for (CostSegment &piece : result) {
      piece.base *= times;
      piece.slope *= times;
    }
    return result;
  }
};

} // namespace

Problem inflated(const Problem &problem, double inflation) {
  if (inflation == 0)
    return problem;
  Problem longer = problem;
  for (MergeClass &mergeClass : longer.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      option.cost = std::make_shared<ScaledCost>(*option.cost, 1 + inflation);
  for (Layer &layer : longer.layers)
    for (FactorOption &option : layer.factorOptions)
      option.seconds *= 1 + inflation;
  return longer;
}

OrderProblem inflated(const OrderProblem &problem, double inflation) {
  OrderProblem longer = problem;
  longer.sync = inflated(problem.sync, inflation);
  return longer;
}

} // namespace syncline::solver
