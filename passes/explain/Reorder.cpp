// Orders of the same messages, timed anew.
#include "passes/explain/Reorder.h"

#include "passes/problem/OrderMessages.h"
#include "passes/solver/ListSchedule.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace syncline::explain {

using namespace problem;

OrderSolution reorderedPieces(const OrderProblem &problem, const OrderSolution &solution,
                              std::span<const std::size_t> order) {
  const Solution messages = messagesOf(problem, solution);
  std::vector<double> ready;
  std::size_t next = 0;
  for (const Piece &piece : solution.pieces)
    ready.push_back(piece.half == Half::second ? 0 : messages.messages[next++].ready);
  OrderSolution other{.choices = solution.choices, .pieces = {}};
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

namespace {

/// A piece of the order.
struct Place {
  std::size_t message = 0;
  double start = 0;
  bool isSecond = false; ///< the all-gather of the message's halves
};

/// The pieces in their order, as the messages tell them.
std::vector<Place> placesOf(const std::vector<Message> &messages) {
  std::vector<std::optional<Place>> places(messages.size());
  for (const Message &message : messages)
    places.resize(places.size() + (message.gather ? 1 : 0));
  for (std::size_t m = 0; m < messages.size(); ++m)
    if (const auto &gather = messages[m].gather)
      places[gather->place] = {m, gather->start, true};
  std::vector<Place> pieces;
  std::size_t next = 0;
  for (const std::optional<Place> &second : places) {
    pieces.push_back(second ? *second : Place{next, messages[next].start});
    next += second ? 0 : 1;
  }
  return pieces;
}

/// The pieces by place; of equal places, those of a chosen message stand first. Pieces of other
/// messages keep their places. Both halves of a chosen message go to the place of the first, so
/// that the second one does not stay where the plan has it.
template <typename PlaceOf>
std::vector<std::size_t> moved(const std::vector<Place> &pieces, const Solution &messages,
                               std::span<const std::size_t> chosen, PlaceOf placeOf) {
  std::vector<std::pair<std::size_t, bool>> places; // and whether the message is not chosen
  std::vector<std::size_t> order, firsts(messages.messages.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::size_t m = pieces[p].message;
    const bool isChosen = std::ranges::binary_search(chosen, m);
    if (!pieces[p].isSecond)
      firsts[m] = isChosen ? placeOf(p) : p;
    places.emplace_back(isChosen ? firsts[m] : p, !isChosen);
    order.push_back(p);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t p) { return places[p]; });
  return order;
}

} // namespace

std::vector<std::size_t> raised(const Solution &messages, std::span<const std::size_t> chosen) {
  const std::vector<Place> pieces = placesOf(messages.messages);
  return moved(pieces, messages, chosen, [&](std::size_t p) {
    const double ready = messages.messages[pieces[p].message].ready;
    const auto behind = std::ranges::lower_bound(pieces, ready, {}, &Place::start);
    return std::min(p, static_cast<std::size_t>(behind - pieces.begin()));
  });
}

std::vector<std::size_t> lowered(const Solution &messages, std::span<const std::size_t> chosen) {
  const std::vector<Place> pieces = placesOf(messages.messages);
  return moved(pieces, messages, chosen, [&](std::size_t) { return pieces.size(); });
}

} // namespace syncline::explain
