// Plans orders for longer messages, and compares them in drawn steps.
#include "passes/candidates/ChooseOrder.h"

#include "passes/problem/Rounding.h"
#include "passes/simulate/ir/PredictDisturbed.h"
#include "passes/solver/OrderPlanner.h"

#include <algorithm>
#include <tuple>

using namespace mlir;

namespace syncline::candidates {
namespace {

using PlannerRef = std::shared_ptr<const solver::Planner>;

constexpr int inflations[] = {0, 5, 10, 20}; // percent

bool hasHalves(const problem::OrderSolution &order) {
  return std::ranges::any_of(order.messages, [](const problem::OrderMessage &message) {
    return message.half != problem::Half::whole;
  });
}

/// Whether two orders send the same bytes in the same messages.
bool isSame(const problem::OrderSolution &one, const problem::OrderSolution &other) {
  const auto key = [](const problem::OrderMessage &message) {
    return std::tuple(message.isFactors, message.index, message.option, message.begin, message.end,
                      message.half);
  };
  return std::ranges::equal(one.messages, other.messages, {}, key, key);
}

/// Simulates orders of one problem.
class OrderComparison {
public:
  OrderComparison(const simulate::SimulatedPlan &plan, const problem::OrderProblem &problem)
      : plan(plan), problem(problem) {}

  Result<std::optional<OrderChoice>> run() {
    SYNCLINE_TRY_GET(barrier, barrierPlan());
    if (!*barrier)
      return std::optional<OrderChoice>();
    choice.barrier = std::move(**barrier);
    for (const int percent : inflations)
      SYNCLINE_TRY(tryInflation(percent));
    if (!choice.planner) // too much work
      return std::optional<OrderChoice>();
    return std::optional(std::move(choice));
  }

private:
  Result<std::optional<sync::DisturbedPlan>> simulated(const solver::Planner &planner,
                                                       const problem::Solution &decisions,
                                                       bool isOrder) const {
    SYNCLINE_TRY_GET(spread, simulate::predictDisturbed(plan, decisions, isOrder));
    if (!*spread)
      return std::optional<sync::DisturbedPlan>();
    return std::optional(sync::DisturbedPlan{planner.name(), isOrder, (*spread)->mean,
                                             (*spread)->low, (*spread)->high});
  }

  Result<std::optional<sync::DisturbedPlan>> barrierPlan() const {
    const PlannerRef planner = *solver::parsePlanner("optimal");
    SYNCLINE_TRY_GET(planned, planner->plan(plan.problem().asPlanned()));
    return simulated(*planner, planned->plan, /*isOrder=*/false);
  }

  /// Tries the planner's order, and if that has halves its order without them. The search looks for
  /// halves last, so where it finds none both are the same.
  Status tryInflation(int percent) {
    bool isHalved = true;
    for (const bool inHalves : {true, false}) {
      if (!isHalved)
        break;
      const PlannerRef planner = percent == 0 && inHalves
                                     ? *solver::parsePlanner("optimal")
                                     : solver::inflatedPlanner(percent, inHalves);
      Result<problem::OrderSolution> order = planner->isOptimal()
                                                 ? orderFrom(problem, plan.decisions())
                                                 : solver::searchOrder(problem, *planner);
      if (!order)
        return order.status();
      isHalved = hasHalves(*order);
      if (std::ranges::any_of(tried, [&](const auto &other) { return isSame(other, *order); }))
        continue;
      const problem::Solution messages = problem::messagesOf(problem, *order);
      SYNCLINE_TRY(tryOrder(planner, std::move(*order), messages));
    }
    return Status::ok();
  }

  Status tryOrder(const PlannerRef &planner, problem::OrderSolution order,
                  const problem::Solution &messages) {
    tried.push_back(std::move(order));
    SYNCLINE_TRY_GET(one, simulated(*planner, messages, /*isOrder=*/true));
    if (!*one)
      return Status::ok();
    const bool isLess = (*one)->mean < choice.order.mean * (1 - problem::sumRounding);
    if (choice.planner && !isLess) {
      choice.others.push_back(std::move(**one));
      return Status::ok();
    }
    if (choice.planner)
      choice.others.push_back(std::move(choice.order));
    choice.planner = planner;
    choice.order = std::move(**one);
    return Status::ok();
  }

  const simulate::SimulatedPlan &plan;
  const problem::OrderProblem &problem;
  std::vector<problem::OrderSolution> tried;
  OrderChoice choice;
};

} // namespace

Result<std::optional<OrderChoice>> chooseOrder(ModuleOp module) {
  SYNCLINE_TRY_GET(plan, simulate::SimulatedPlan::create(module));
  const merge::PlannedProblem &planned = plan->problem();
  const auto order = planned.orderOn(planned.asPlanned(), planned.cluster(), 1);
  if (!order)
    return std::optional<OrderChoice>();
  return OrderComparison(*plan, *order).run();
}

Result<std::optional<sync::DisturbedPlan>> disturbedPlan(ModuleOp module) {
  SYNCLINE_TRY_GET(plan, simulate::SimulatedPlan::create(module));
  const bool isOrder = plan->problem().hasOrder();
  SYNCLINE_TRY_GET(spread, simulate::predictDisturbed(*plan, plan->decisions(), isOrder));
  if (!*spread)
    return std::optional<sync::DisturbedPlan>();
  return std::optional(sync::DisturbedPlan{plan->planner(), isOrder, (*spread)->mean,
                                           (*spread)->low, (*spread)->high});
}

} // namespace syncline::candidates
