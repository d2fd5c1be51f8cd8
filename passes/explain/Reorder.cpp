// Orders of the same messages, timed anew.
#include "passes/explain/Reorder.h"

#include "passes/problem/OrderMessages.h"
#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <utility>

namespace syncline::explain {

using namespace problem;

namespace {

/// Sends the messages of an order in another one. All-gathers keep their places and their order, as
/// far as their first halves allow.
class Resent {
public:
  Resent(const OrderProblem &problem, const OrderSolution &solution)
      : problem(problem), messages(messagesOf(problem, solution)) {
    other.ways = solution.ways;
    for (const Piece &piece : solution.pieces)
      (piece.half == Half::second ? seconds : firsts).push_back(piece);
  }

  OrderSolution in(std::span<const std::size_t> order, const std::vector<Piece> &pieces) {
    std::size_t next = 0;
    for (const Piece &place : pieces)
      if (place.half != Half::second || !sendSecond())
        if (next < order.size())
          send(firsts[order[next]], messages.messages[order[next]].ready), ++next;
    while (next < order.size())
      send(firsts[order[next]], messages.messages[order[next]].ready), ++next;
    while (sendSecond()) {
    }
    other.period = solver::periodOf(problem, other);
    return std::move(other);
  }

private:
  void send(Piece piece, double ready) {
    piece.start = std::max(free, ready);
    piece.finish = free = piece.start + secondsOf(problem.sync, piece);
    other.pieces.push_back(piece);
  }

  /// Sends the next all-gather whose first half has travelled; false where there is none.
  bool sendSecond() {
    const auto isReady = [&](const Piece &second) {
      return std::ranges::any_of(other.pieces, [&](const Piece &first) {
        return first.half == Half::first && first.index == second.index &&
               first.begin == second.begin;
      });
    };
    const auto second = std::ranges::find_if(seconds, isReady);
    if (second == seconds.end())
      return false;
    const Piece piece = *second;
    seconds.erase(second);
    send(piece, 0);
    return true;
  }

  const OrderProblem &problem;
  const Solution messages;
  std::vector<Piece> firsts, seconds; ///< the first ones by message
  OrderSolution other;
  double free = 0; ///< when the channel is free
};

} // namespace

OrderSolution reordered(const OrderProblem &problem, const OrderSolution &solution,
                        std::span<const std::size_t> order) {
  return Resent(problem, solution).in(order, solution.pieces);
}

OrderSolution reorderedPieces(const OrderProblem &problem, const OrderSolution &solution,
                              std::span<const std::size_t> order) {
  const Solution messages = messagesOf(problem, solution);
  std::vector<double> ready;
  std::size_t next = 0;
  for (const Piece &piece : solution.pieces)
    ready.push_back(piece.half == Half::second ? 0 : messages.messages[next++].ready);
  OrderSolution other{.ways = solution.ways};
  double free = 0;
  for (std::size_t p : order) {
    Piece piece = solution.pieces[p];
    piece.start = std::max(free, ready[p]);
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
