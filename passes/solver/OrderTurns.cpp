// Finds the factors that are in the way of messages that are needed sooner.
#include "passes/solver/OrderTurns.h"

#include "passes/solver/OrderMoves.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace syncline::solver {

namespace {

/// When the first of the message's gradients exists.
double firstReady(const Schedules &schedules, const OrderMessage &message) {
  const std::vector<Layer> &layers = schedules.orderProblem().sync.layers;
  if (message.isFactors)
    return layers[message.index].ready;
  // A layout begins with the layer that is ready last.
  const ClassLayout &layout = schedules.classLayouts()[message.index];
  return layers[layout.layers[layout.indexAt(message.end - 1)]].ready;
}

/// The turns where one layer's is replaced.
std::vector<Turn> with(std::span<const Turn> turns, const Turn &turn) {
  std::vector<Turn> next(turns.begin(), turns.end());
  std::erase_if(next, [&](const Turn &other) { return other.layer == turn.layer; });
  next.push_back(turn);
  return next;
}

/// The turns before and behind the messages that some factors are in the way of; nothing where none
/// are. Precondition: `solution` is a list schedule of `turns`.
std::vector<std::vector<Turn>> branchesOf(const Schedules &schedules, const OrderSolution &solution,
                                          std::span<const Turn> turns) {
  const OrderProblem &problem = schedules.orderProblem();
  const std::vector<OrderMessage> &messages = solution.messages;
  std::optional<Schedules::Wait> wait;
  schedules.period(solution, &wait);
  if (!wait)
    return {};
  const double tail = problem.tail[wait->layer];
  const auto awaited = std::ranges::find(messages, wait->since, &OrderMessage::finish);
  double release = std::numeric_limits<double>::infinity();
  for (auto message = awaited; message != messages.end(); --message) {
    if (message->isFactors && message != awaited) {
      const auto place = std::ranges::find(turns, message->index, &Turn::layer);
      const Turn turn =
          place != turns.end() ? *place : Turn{message->index, problem.tail[message->index], 0};
      if (turn.tail < tail) {
        const double between = wait->since - message->finish;
        std::vector<std::vector<Turn>> branches;
        branches.push_back(with(turns, {turn.layer, tail + between, turn.notBefore}));
        if (release + between > message->start)
          branches.push_back(with(turns, {turn.layer, turn.tail, release + between}));
        return branches;
      }
    }
    release = std::min(release, firstReady(schedules, *message));
    if (message == messages.begin() || (message - 1)->finish < message->start)
      break;
  }
  return {};
}

/// A list schedule that may branch.
struct Node {
  std::vector<Turn> turns;
  OrderSolution shortest; ///< of all sizes of messages
};

} // namespace

TurnsResult searchTurns(const Schedules &schedules, std::span<const std::int64_t> chunks,
                        std::size_t mostBranches, double enough) {
  TurnsResult result;
  std::vector<Node> open;
  const auto add = [&](std::vector<Turn> turns) {
    std::optional<OrderSolution> shortest;
    for (std::int64_t chunk : chunks) {
      OrderSolution next = listSchedule(schedules, {.chunk = chunk}, turns);
      if (!shortest || next.period < shortest->period)
        shortest = next;
      if (result.schedules++ == 0 || priceOf(next) < priceOf(result.solution))
        result.solution = std::move(next);
    }
    open.push_back({std::move(turns), std::move(*shortest)});
  };
  add({});
  for (std::size_t count = 1;
       count < mostBranches && !open.empty() && result.solution.period > enough;) {
    const auto next =
        std::ranges::min_element(open, {}, [](const Node &node) { return node.shortest.period; });
    const Node node = std::move(*next);
    open.erase(next);
    for (std::vector<Turn> &turns : branchesOf(schedules, node.shortest, node.turns)) {
      add(std::move(turns));
      ++count;
    }
  }
  return result;
}

} // namespace syncline::solver
