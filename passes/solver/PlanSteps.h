// PlanSteps: how one more choice changes the state of a partial solution. The label search and the
// exhaustive search follow these steps.
#pragma once

#include "passes/problem/Interference.h"

#include <algorithm>

namespace syncline::solver {

using namespace problem;

class PlanSteps {
public:
  /// Keeps a reference to the problem, which must be valid.
  explicit PlanSteps(const Problem &problem)
      : problem(problem), pairs(problem),
        limited(problem.limitedMergeClass().value_or(maxMergeClasses)),
        slows(slowsComputation(problem)), work(problem) {
    for (std::size_t k = 0; k < problem.layers.size(); ++k)
      for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
        if (problem.allows(k, mergeClass))
          lastOfMergeClass[mergeClass] = k + 1;
  }

  /// The state before the first layer.
  PlanState root() const {
    return {.free = problem.layers.empty() ? 0 : problem.layers.front().ready,
            .compute = problem.computeFree};
  }

  /// Calls visit(choice, state after layer k) for every choice that layer k has in `before`, the
  /// state after the layers before it. Skips states that cannot be completed because no layer is
  /// left to close a bucket. Factor options and piggybacks come first, then closing a bucket, then
  /// joining one.
  template <typename Visit> void forEach(const PlanState &before, std::size_t k, Visit visit) const;

  /// The finish of a complete solution in this state: the later of channel and device.
  static double finish(const PlanState &state) { return std::max(state.free, state.compute); }

private:
  template <typename Visit>
  void tryMergeClass(const PlanState &before, std::size_t k, std::size_t mergeClass,
                     Visit &visit) const;
  /// Sends a message of layer k and layers before it.
  void send(PlanState &state, std::size_t k, double seconds, const Loss &loss) const {
    const double start = std::max(state.free, problem.layers[k].ready + state.lost),
                 lost = work.lost(start - state.lost, seconds, loss);
    state.free = start + seconds;
    state.compute += lost;
    state.lost += lost;
  }
  /// Delays the channel until the next layer is ready, since no message can close before.
  void waitForNext(PlanState &state, std::size_t k) const {
    if (k + 1 < problem.layers.size())
      state.free = std::max(state.free, problem.layers[k + 1].ready + state.lost);
  }

  const Problem &problem;
  PairBits pairs;
  std::size_t limited;
  bool slows; ///< whether messages slow computation
  WorkSchedule work;
  /// For each merge class, one past the last layer that may use it.
  std::array<std::size_t, maxMergeClasses> lastOfMergeClass{};
};

template <typename Visit>
void PlanSteps::forEach(const PlanState &before, std::size_t k, Visit visit) const {
  const Layer &layer = problem.layers[k];
  for (std::size_t i = 0; i < layer.factorOptions.size(); ++i) {
    PlanState state = before;
    if (!pairs.settle(state.freedom, k, Choice::Kind::factors))
      continue;
    const FactorOption &option = layer.factorOptions[i];
    send(state, k, option.seconds, lossOf(problem, option));
    if (option.reconstruct > 0)
      state.compute = std::max(state.compute, state.free) + option.reconstruct;
    waitForNext(state, k);
    visit(Choice{Choice::Kind::factors, static_cast<std::uint8_t>(i)}, state);
  }
  if (PlanState state = before;
      layer.carrier && pairs.settle(state.freedom, k, Choice::Kind::piggyback)) {
    waitForNext(state, k);
    visit(Choice{Choice::Kind::piggyback, 0}, state);
  }
  for (std::size_t mergeClass = 0; mergeClass < problem.mergeClasses.size(); ++mergeClass)
    if (problem.allows(k, mergeClass))
      tryMergeClass(before, k, mergeClass, visit);
}

template <typename Visit>
void PlanSteps::tryMergeClass(const PlanState &before, std::size_t k, std::size_t mergeClass,
                              Visit &visit) const {
  const Layer &layer = problem.layers[k];
  const MergeClass &wire = problem.mergeClasses[mergeClass];
  PlanState state = before;
  std::int64_t bytes = std::max<std::int64_t>(before.open[mergeClass], 0) + layer.bytes;
  if (bytes > wire.largestMessage || !pairs.settle(state.freedom, k, Choice::Kind::join))
    return;
  if (mergeClass == limited && (state.held += layer.bytes) > wire.capacity)
    return;
  auto index = static_cast<std::uint8_t>(mergeClass);

  const auto close = [&](std::uint8_t option, double seconds, const Loss &loss) {
    PlanState sent = state;
    sent.open[mergeClass] = PlanState::closed;
    send(sent, k, seconds, loss);
    waitForNext(sent, k);
    visit(Choice{Choice::Kind::bucket, index, option}, sent);
  };
  if (!slows)
    close(Choice::fastest, wire.seconds(bytes), {});
  // The fastest option need not be the best one where messages take computation.
  for (std::size_t i = 0; slows && i < wire.options.size(); ++i)
    close(static_cast<std::uint8_t>(i), wire.options[i].cost->seconds(bytes),
          lossOf(problem, wire.options[i], bytes));

  if (k + 1 < lastOfMergeClass[mergeClass]) {
    state.open[mergeClass] = bytes;
    waitForNext(state, k);
    visit(Choice{Choice::Kind::join, index}, state);
  }
}

} // namespace syncline::solver
