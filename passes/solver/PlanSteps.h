// PlanSteps: how one more decision changes the state of a partial plan. What the label search and
// the exhaustive search walk along.
#pragma once

#include "passes/problem/Problem.h"

#include <algorithm>

namespace syncline::solver {

using namespace problem;

class PlanSteps {
public:
  /// Keeps a reference to the problem, which must be valid.
  explicit PlanSteps(const Problem &problem);

  /// Before the first layer.
  PlanState root() const;

  /// Calls visit(choice, state after layer k) for every choice that layer k has in `before`, the
  /// state after the layers before it. States that can never be completed because a bucket has no
  /// layer left to close it are passed over. Factor options and rides first, then closing, then
  /// joining.
  template <typename Visit> void forEach(const PlanState &before, std::size_t k, Visit visit) const;

  /// When a complete plan's state is over: the later of channel and device.
  static double finish(const PlanState &state) { return std::max(state.free, state.compute); }

private:
  template <typename Visit>
  void tryMergeClass(const PlanState &before, std::size_t k, std::size_t mergeClass,
                     Visit &visit) const;
  /// The channel waits for the next layer at least: no message can close before it.
  void waitForNext(PlanState &state, std::size_t k) const {
    if (k + 1 < problem.layers.size())
      state.free = std::max(state.free, problem.layers[k + 1].ready);
  }

  const Problem &problem;
  PairBits pairs;
  std::size_t limited;
  std::array<std::size_t, maxMergeClasses>
      lastOfMergeClass{}; ///< one past the last layer that may travel there
};

template <typename Visit>
void PlanSteps::forEach(const PlanState &before, std::size_t k, Visit visit) const {
  const Layer &layer = problem.layers[k];
  for (std::size_t i = 0; i < layer.factorOptions.size(); ++i) {
    PlanState state = before;
    if (!pairs.settle(state.freedom, k, Choice::Kind::factors))
      continue;
    state.free = std::max(state.free, layer.ready) + layer.factorOptions[i].seconds;
    if (layer.factorOptions[i].reconstruct > 0)
      state.compute = std::max(state.compute, state.free) + layer.factorOptions[i].reconstruct;
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

  PlanState sent = state;
  sent.open[mergeClass] = PlanState::closed;
  sent.free = std::max(state.free, layer.ready) + wire.seconds(bytes);
  waitForNext(sent, k);
  visit(Choice{Choice::Kind::close, index}, sent);

  if (k + 1 < lastOfMergeClass[mergeClass]) {
    state.open[mergeClass] = bytes;
    waitForNext(state, k);
    visit(Choice{Choice::Kind::join, index}, state);
  }
}

} // namespace syncline::solver
