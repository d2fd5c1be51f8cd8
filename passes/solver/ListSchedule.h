// ListSchedule: whenever the channel is free, it sends what the next forward pass needs first among
// what is ready (README.md, "List scheduling").
#pragma once

#include "passes/problem/OrderProblem.h"

#include <optional>
#include <span>

namespace syncline::solver {

using namespace problem;

/// Whether buckets travel in halves, where their class has a scheme with halves, and when second
/// halves travel.
enum class Halves {
  none,
  behind,  ///< when all that first halves and other messages carry has travelled
  between, ///< also when nothing else is ready
};

/// How many bytes a message takes: `chunk`, or with a target as many as can travel without making
/// the period longer than the target, and `chunk` at least.
struct MessageSize {
  std::int64_t chunk = 0; ///< bytes, at least 1
  double target = 0;      ///< seconds without what messages take from computation; 0 for no target
  /// Seconds by which a message ends earlier than the target asks, for the latencies of the
  /// messages behind it.
  double reserve = 0;
  /// Second halves travel in the order in which the next forward pass needs them.
  Halves halves = Halves::none;
};

/// A layer whose factors a list schedule sends sooner or later than its tail asks.
struct Turn {
  std::size_t layer = 0;
  double tail = 0;      ///< seconds, in place of the layer's own
  double notBefore = 0; ///< seconds: its factors wait until then, though they exist
};

/// What all schedules have in common in which gradients travel in the same ways: where they lie in
/// their classes, when they must start to travel, and in what order they are read. Refers to the
/// problem. Not thread-safe.
class Schedules {
public:
  /// Preconditions: the problem is valid, and the ways are allowed. O(n log n).
  Schedules(const OrderProblem &problem, std::span<const Choice> choices);

  const OrderProblem &orderProblem() const { return *problem; }
  const std::vector<Choice> &layerChoices() const { return choices; }
  const std::vector<ClassLayout> &classLayouts() const { return layouts; }
  /// The place of a layer in its class's layout.
  std::size_t placeOf(std::size_t layer) const { return place[layer]; }
  /// For each layer how long before the target it and all that become ready behind it must start to
  /// travel, in one message, to meet the target. Buckets cost what the first class's do.
  const std::vector<double> &leads() const { return lead; }

  /// A reader that waits, until `since` seconds, for a layer's last message.
  struct Wait {
    std::size_t layer = 0;
    double since = 0;
  };
  /// As periodOf(). Without the last of the waits the period would be shorter; `last` becomes it,
  /// where there is one. Precondition: gradients travel in these ways.
  double period(const OrderSolution &solution, std::optional<Wait> *last = nullptr) const;

private:
  const OrderProblem *problem;
  std::vector<Choice> choices;
  std::vector<ClassLayout> layouts;
  std::vector<std::size_t> place, readers;
  std::vector<double> lead;
};

/// The solution in which each message takes the gradient with the longest tail among those that are
/// ready, from its first byte that has not travelled, and neighbours behind it that are ready too,
/// up to the size's bytes and its class's largest message. A rest below a quarter of the size goes
/// with it where the class allows. `turns` change when factors are sent, one for a layer at most.
/// O((n + messages) log n). Deterministic.
OrderSolution listSchedule(const Schedules &schedules, const MessageSize &size,
                           std::span<const Turn> turns = {});

/// Times the messages anew, each as soon as the channel is free and its gradients exist, and sets
/// the period. Precondition: gradients travel in these ways.
void setTimes(const Schedules &schedules, OrderSolution &solution);

/// The period that follows from when messages end: the next forward pass in order, each reader
/// after its gradient has arrived and, where factors travelled, after its reconstruction; and what
/// all messages take from computation.
double periodOf(const OrderProblem &problem, const OrderSolution &solution);

} // namespace syncline::solver
