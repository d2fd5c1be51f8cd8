// PlanSteps: how one more decision changes the state of a partial plan. What the label search and
// the exhaustive search walk along.
#pragma once

#include "passes/problem/Problem.h"

#include <algorithm>

namespace syncline::solver {

class PlanSteps {
public:
  /// Keeps a reference to the problem, which must be valid.
  explicit PlanSteps(const JointProblem &problem);

  /// Before the first layer.
  PlanState root() const;

  /// Calls visit(choice, state after layer k) for every choice that layer k has in `before`, the
  /// state after the layers before it. States that can never be completed because a bucket has no
  /// layer left to close it are passed over. Solos and rides first, then closing, then joining.
  template <typename Visit> void forEach(const PlanState &before, std::size_t k, Visit visit) const;

  /// When a complete plan's state is over: the later of channel and device.
  static double finish(const PlanState &state) { return std::max(state.free, state.compute); }

private:
  template <typename Visit>
  void tryLane(const PlanState &before, std::size_t k, std::size_t lane, Visit &visit) const;
  /// The channel waits for the next layer at least: no message can close before it.
  void waitForNext(PlanState &state, std::size_t k) const {
    if (k + 1 < problem.layers.size())
      state.free = std::max(state.free, problem.layers[k + 1].ready);
  }

  const JointProblem &problem;
  PairBits pairs;
  std::size_t limited;
  std::array<std::size_t, maxLanes> lastOfLane{}; ///< one past the last layer that may travel there
};

template <typename Visit>
void PlanSteps::forEach(const PlanState &before, std::size_t k, Visit visit) const {
  const JointLayer &layer = problem.layers[k];
  for (std::size_t i = 0; i < layer.solos.size(); ++i) {
    PlanState state = before;
    if (!pairs.settle(state.freedom, k, Choice::Kind::solo))
      continue;
    state.free = std::max(state.free, layer.ready) + layer.solos[i].seconds;
    if (layer.solos[i].rebuild > 0)
      state.compute = std::max(state.compute, state.free) + layer.solos[i].rebuild;
    waitForNext(state, k);
    visit(Choice{Choice::Kind::solo, static_cast<std::uint8_t>(i)}, state);
  }
  if (PlanState state = before;
      layer.carrier && pairs.settle(state.freedom, k, Choice::Kind::ride)) {
    waitForNext(state, k);
    visit(Choice{Choice::Kind::ride, 0}, state);
  }
  for (std::size_t lane = 0; lane < problem.lanes.size(); ++lane)
    if (problem.allows(k, lane))
      tryLane(before, k, lane, visit);
}

template <typename Visit>
void PlanSteps::tryLane(const PlanState &before, std::size_t k, std::size_t lane,
                        Visit &visit) const {
  const JointLayer &layer = problem.layers[k];
  const Lane &wire = problem.lanes[lane];
  PlanState state = before;
  std::int64_t bytes = std::max<std::int64_t>(before.open[lane], 0) + layer.bytes;
  if (bytes > wire.largestMessage || !pairs.settle(state.freedom, k, Choice::Kind::join))
    return;
  if (lane == limited && (state.held += layer.bytes) > wire.capacity)
    return;
  auto index = static_cast<std::uint8_t>(lane);

  PlanState sent = state;
  sent.open[lane] = PlanState::closed;
  sent.free = std::max(state.free, layer.ready) + wire.seconds(bytes);
  waitForNext(sent, k);
  visit(Choice{Choice::Kind::close, index}, sent);

  if (k + 1 < lastOfLane[lane]) {
    state.open[lane] = bytes;
    waitForNext(state, k);
    visit(Choice{Choice::Kind::join, index}, state);
  }
}

} // namespace syncline::solver
