// Orders of the same messages, timed anew.
#include "passes/explain/Reorder.h"

#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace syncline::explain {

using namespace problem;

OrderSolution reordered(const OrderProblem &problem, const OrderSolution &order,
                        std::span<const std::size_t> places) {
  OrderSolution other{.choices = order.choices, .messages = {}};
  for (std::size_t p : places)
    other.messages.push_back(order.messages[p]);
  solver::setTimes(solver::Schedules(problem, order.choices), other);
  return other;
}

/// The messages by place; of equal places, those that are `chosen` stand first. Other messages keep
/// their places. Both halves of a chosen one go to the place of the first, so that the second one
/// does not stay where the plan has it.
template <typename PlaceOf>
static std::vector<std::size_t> moved(const OrderSolution &order,
                                      std::span<const std::size_t> chosen, PlaceOf placeOf) {
  const std::vector<std::size_t> numbers = numbersInPlan(order);
  std::vector<std::pair<std::size_t, bool>> places; // and whether the message is not chosen
  std::vector<std::size_t> moved(numbers.size()), firsts(numbers.size());
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    const std::size_t m = numbers[p];
    const bool isChosen = std::ranges::binary_search(chosen, m);
    if (order.messages[p].half != Half::second)
      firsts[m] = isChosen ? placeOf(p, m) : p;
    places.emplace_back(isChosen ? firsts[m] : p, !isChosen);
  }
  std::iota(moved.begin(), moved.end(), std::size_t{0});
  std::ranges::stable_sort(moved, {}, [&](std::size_t p) { return places[p]; });
  return moved;
}

std::vector<std::size_t> raised(const Solution &plan, const OrderSolution &order,
                                std::span<const std::size_t> chosen) {
  const std::vector<std::size_t> numbers = numbersInPlan(order);
  std::vector<double> starts; // by the true clock
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    const Message &message = plan.messages[numbers[p]];
    starts.push_back(order.messages[p].half == Half::second ? message.gather->start
                                                            : message.start);
  }
  return moved(order, chosen, [&](std::size_t p, std::size_t m) {
    const auto behind = std::ranges::lower_bound(starts, plan.messages[m].ready);
    return std::min(p, static_cast<std::size_t>(behind - starts.begin()));
  });
}

std::vector<std::size_t> lowered(const OrderSolution &order, std::span<const std::size_t> chosen) {
  return moved(order, chosen, [&](std::size_t, std::size_t) { return order.messages.size(); });
}

} // namespace syncline::explain
