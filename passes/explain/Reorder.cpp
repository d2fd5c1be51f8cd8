// Orders of the same messages, timed anew.
#include "passes/explain/Reorder.h"

#include "passes/problem/OrderMessages.h"
#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <utility>

namespace syncline::explain {

using namespace problem;

static double secondsOf(const Problem &sync, const Piece &piece) {
  return piece.isFactors
             ? sync.layers[piece.index].factorOptions[piece.option].seconds
             : sync.mergeClasses[piece.index].options[piece.option].cost->seconds(piece.bytes());
}

OrderSolution reordered(const OrderProblem &problem, const OrderSolution &solution,
                        std::span<const std::size_t> order) {
  const Solution messages = messagesOf(problem, solution);
  OrderSolution other;
  other.ways = solution.ways;
  double free = 0;
  for (std::size_t m : order) {
    Piece piece = solution.pieces[m];
    piece.start = std::max(free, messages.messages[m].ready);
    piece.finish = free = piece.start + secondsOf(problem.sync, piece);
    other.pieces.push_back(piece);
  }
  other.period = solver::periodOf(problem, other);
  return other;
}

/// The messages by place; of equal places a chosen message stands first. The place of a message
/// that is not chosen is its number.
template <typename PlaceOf>
static std::vector<std::size_t> moved(const Solution &messages, std::span<const std::size_t> chosen,
                                      PlaceOf placeOf) {
  std::vector<std::pair<std::size_t, bool>> places; // and whether the message is not chosen
  std::vector<std::size_t> order;
  for (std::size_t m = 0; m < messages.messages.size(); ++m) {
    const bool isChosen = std::ranges::binary_search(chosen, m);
    places.emplace_back(isChosen ? placeOf(m) : m, !isChosen);
    order.push_back(m);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return places[m]; });
  return order;
}

std::vector<std::size_t> raised(const Solution &messages, std::span<const std::size_t> chosen) {
  return moved(messages, chosen, [&](std::size_t m) {
    const auto behind = std::ranges::lower_bound(messages.messages, messages.messages[m].ready, {},
                                                 &Message::start);
    return std::min(m, static_cast<std::size_t>(behind - messages.messages.begin()));
  });
}

std::vector<std::size_t> lowered(const Solution &messages, std::span<const std::size_t> chosen) {
  return moved(messages, chosen, [&](std::size_t) { return messages.messages.size(); });
}

} // namespace syncline::explain
