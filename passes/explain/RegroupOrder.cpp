// Times an order in which one message has other members.
#include "passes/explain/Regrouping.h"

#include "passes/explain/Reorder.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace syncline::explain {

using namespace problem;

namespace {

double busySeconds(const OrderProblem &problem, const OrderSolution &order) {
  double seconds = 0;
  for (const OrderMessage &message : order.messages)
    seconds += secondsOf(problem.sync, message) + lostSeconds(problem.sync, message);
  return seconds;
}

class OrderRegrouper {
public:
  OrderRegrouper(const OrderProblem &problem, const Solution &plan, std::size_t chosen)
      : problem(problem), order(orderFrom(problem, plan)),
        layouts(layoutsOf(problem.sync, order.choices)),
        mergeClass(plan.messages[chosen].mergeClass), busy(busySeconds(problem, order)) {
    const std::vector<std::size_t> numbers = numbersInPlan(order);
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      const OrderMessage &message = order.messages[p];
      if (numbers[p] == chosen && message.half != Half::second)
        own = message;
      isFastest = isFastest && (message.isFactors || message.option == bestFor(message));
    }
  }

  void addTo(Grouping &grouping) {
    const ClassLayout &layout = layouts[mergeClass];
    for (const OrderMessage &other : order.messages) {
      if (other.isFactors || other.index != mergeClass || other.half != own.half)
        continue;
      if (other.begin == own.end) // layouts begin with what is ready last
        merge(Move::mergeBefore, other, {own.begin, other.end});
      if (other.end == own.begin)
        merge(Move::mergeBehind, other, {other.begin, own.end});
    }
    for (std::size_t i = 1; i < layout.layers.size(); ++i)
      if (layout.begin[i] > own.begin && layout.begin[i] < own.end)
        split(layout.begin[i]);
    if (splits > 0)
      changes.push_back(std::move(bestSplit));
    if (own.half == Half::first)
      joinHalves();
    grouping.changes = std::move(changes);
    grouping.splits = splits;
  }

private:
  using Run = std::pair<std::int64_t, std::int64_t>; ///< bytes of the layout

  std::size_t bestFor(const OrderMessage &message) const {
    const MergeClass &mergedBy = problem.sync.mergeClasses[message.index];
    if (message.half == Half::whole)
      return mergedBy.bestOption(message.bytes());
    return bestHalvedOption(mergedBy, message.bytes()).value_or(message.option);
  }

  OrderMessage ofBytes(OrderMessage message, Run run) const {
    std::tie(message.begin, message.end) = run;
    if (isFastest)
      message.option = bestFor(message);
    return message;
  }

  /// The layer of a byte of the layout.
  std::size_t layerAt(std::int64_t byte) const {
    return layouts[mergeClass].layers[layouts[mergeClass].indexAt(byte)];
  }

  static bool isOf(const OrderMessage &message, const OrderMessage &which) {
    return !message.isFactors && message.index == which.index && message.begin == which.begin &&
           message.end == which.end;
  }

  /// Both, at the place of the first or at that of the second of them.
  void merge(Move move, const OrderMessage &other, Run run) {
    const bool isBehind = move == Move::mergeBehind;
    Regrouping change{.move = move,
                      .layer = isBehind ? layerAt(other.end - 1) : layerAt(other.begin),
                      .waiting = isBehind ? layerAt(own.begin) : layerAt(other.begin),
                      .awaited = isBehind ? layerAt(other.begin) : layerAt(own.begin),
                      .bytes = run.second - run.first};
    if (change.bytes <= problem.sync.mergeClasses[mergeClass].largestMessage)
      for (const bool keepsFirst : {true, false}) {
        std::vector<OrderMessage> messages;
        std::array<int, 3> seen{}; // of the two, by half
        for (const OrderMessage &message : order.messages) {
          if (!isOf(message, own) && !isOf(message, other)) {
            messages.push_back(message);
            continue;
          }
          const bool isFirst = seen[static_cast<std::size_t>(message.half)]++ == 0;
          if (isFirst == keepsFirst)
            messages.push_back(ofBytes(message, run));
        }
        tryMessages(change, std::move(messages));
      }
    changes.push_back(std::move(change));
  }

  /// Two messages, of which either goes first.
  void split(std::int64_t at) {
    Regrouping change{.move = Move::split,
                      .layer = layerAt(at - 1),
                      .waiting = layerAt(at),
                      .awaited = layerAt(own.begin),
                      .bytes = std::max(at - own.begin, own.end - at)};
    for (const bool isLatestFirst : {false, true}) {
      std::vector<OrderMessage> messages;
      for (const OrderMessage &message : order.messages) {
        if (!isOf(message, own)) {
          messages.push_back(message);
          continue;
        }
        OrderMessage latest = ofBytes(message, {own.begin, at}),
                     earliest = ofBytes(message, {at, own.end});
        messages.push_back(isLatestFirst ? latest : earliest);
        messages.push_back(isLatestFirst ? earliest : latest);
      }
      tryMessages(change, std::move(messages));
    }
    if (splits++ == 0 || change.finish < bestSplit.finish)
      bestSplit = std::move(change);
  }

  /// One message at the place of either half.
  void joinHalves() {
    Regrouping change{.move = Move::oneWhole,
                      .layer = layerAt(own.begin),
                      .waiting = layerAt(own.begin),
                      .awaited = layerAt(own.begin),
                      .bytes = own.bytes()};
    for (const Half kept : {Half::first, Half::second}) {
      std::vector<OrderMessage> messages;
      for (OrderMessage message : order.messages) {
        const bool isOwn = isOf(message, own);
        if (isOwn && message.half != kept)
          continue;
        if (isOwn) {
          message.half = Half::whole;
          message = ofBytes(message, {own.begin, own.end});
        }
        messages.push_back(message);
      }
      tryMessages(change, std::move(messages));
    }
    changes.push_back(std::move(change));
  }

  /// Keeps the messages where they have the shortest period so far.
  void tryMessages(Regrouping &change, std::vector<OrderMessage> messages) const {
    const OrderSolution untimed{.choices = order.choices, .messages = std::move(messages)};
    std::vector<std::size_t> places(untimed.messages.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const OrderSolution timed = reordered(problem, untimed, places);
    if (change.plan && timed.period >= change.finish)
      return;
    const ComputationClock clock = clockOf(problem.sync, timed);
    change.waitingReady = clock.at(problem.sync.layers[change.waiting].ready);
    change.awaitedReady = clock.at(problem.sync.layers[change.awaited].ready);
    change.finish = timed.period;
    change.busy = busySeconds(problem, timed) - busy;
    change.plan = messagesOf(problem, timed);
    change.exposed =
        timed.period - problem.compute() - reconstructionOf(problem.sync, *change.plan);
    change.idle = change.plan->communicationEnd - lastEnd() - change.busy;
    change.added = static_cast<std::int64_t>(timed.messages.size()) -
                   static_cast<std::int64_t>(order.messages.size());
    change.latency = problem.sync.mergeClasses[mergeClass].options[own.option].cost->seconds(0) *
                     (own.half == Half::whole ? 1 : 0.5);
  }

  double lastEnd() const {
    return order.messages.empty() ? 0
                                  : order.messages.back().finish + lostSeconds(problem.sync, order);
  }

  const OrderProblem &problem;
  OrderSolution order;
  std::vector<ClassLayout> layouts;
  std::size_t mergeClass;
  OrderMessage own;
  bool isFastest = true;
  double busy;
  std::vector<Regrouping> changes;
  Regrouping bestSplit;
  std::size_t splits = 0;
};

} // namespace

std::optional<Grouping> groupingInOrder(const OrderProblem &problem, const Solution &plan,
                                        std::size_t chosen) {
  const Message &message = plan.messages[chosen];
  if (message.isFactors || message.bytes == 0)
    return std::nullopt;
  Grouping grouping{.message = chosen,
                    .members = message.layers,
                    .bytes = message.bytes,
                    .largestMessage = problem.sync.mergeClasses[message.mergeClass].largestMessage,
                    .finish = plan.finish,
                    .exposed =
                        plan.finish - problem.compute() - reconstructionOf(problem.sync, plan)};
  std::ranges::sort(grouping.members);
  OrderRegrouper(problem, plan, chosen).addTo(grouping);
  return grouping;
}

} // namespace syncline::explain
