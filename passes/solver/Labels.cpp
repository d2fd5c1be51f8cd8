// The label search.
#include "passes/solver/Labels.h"

#include "passes/solver/PlanSteps.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace syncline::solver {

namespace {

struct Label {
  PlanState state;
  double slack = 0;
  std::uint32_t parent = 0; ///< index among the labels of the layer before
  Choice choice;
};

/// The choice that made a label, which is all that is needed once the label's layer is done.
struct Step {
  std::uint32_t parent;
  Choice choice;
};

bool isNondecreasing(const CollectiveCost &cost) {
  std::span<const CostSegment> segments = cost.segments();
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s].slope < 0)
      return false;
    if (s + 1 < segments.size() &&
        cost.seconds(segments[s + 1].firstByte - 1) > segments[s + 1].base)
      return false;
  }
  return true;
}

/// Whether every completion of one state also completes another, which then ends no later.
class Dominance {
public:
  explicit Dominance(const Problem &problem)
      : mergeClasses(problem.mergeClasses.size()), slows(slowsComputation(problem)) {
    for (const Layer &layer : problem.layers)
      for (const FactorOption &option : layer.factorOptions)
        rebuilds |= option.reconstruct > 0;
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
      nondecreasing[mergeClass] = std::ranges::all_of(
          problem.mergeClasses[mergeClass].options, [](const SchemeOption &option) {
            return isNondecreasing(*option.cost) && (!option.lost || isNondecreasing(*option.lost));
          });
  }

  bool operator()(const PlanState &a, const PlanState &b) const {
    if (a.free > b.free * (1 + 1e-14) || a.compute > b.compute * (1 + 1e-14) ||
        a.lost > b.lost * (1 + 1e-14) || a.held > b.held || (b.freedom & ~a.freedom))
      return false;
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
      if (nondecreasing[mergeClass] ? a.open[mergeClass] > b.open[mergeClass]
                                    : a.open[mergeClass] != b.open[mergeClass])
        return false;
    return true;
  }

  /// Whether among these states, in ascending order of `free`, the first of two dominates the
  /// second iff it has neither more of `compute` nor more open bytes, and the second no freedom
  /// that the first has not. Without reconstruction `compute` is later by `lost` for all.
  bool isPlane(const std::vector<Label> &labels) const {
    return mergeClasses == 1 && nondecreasing[0] && !(slows && rebuilds) &&
           std::ranges::all_of(labels, [&](const Label &label) {
             return label.state.held == labels.front().state.held;
           });
  }

private:
  std::size_t mergeClasses;
  bool slows, rebuilds = false; ///< whether messages slow computation, and gradients are rebuilt
  std::array<bool, maxMergeClasses> nondecreasing{};
};

auto sortKey(const PlanState &s) {
  return std::tuple(s.free, s.compute, s.open[0], s.open[1], s.open[2], s.held, s.lost);
}

/// The minimum of each number over some states. No kept state dominates a state below a minimum.
class Floor {
public:
  bool isAbove(const PlanState &state) const {
    bool above = state.compute * (1 + 1e-14) < compute || state.held < held ||
                 state.lost * (1 + 1e-14) < lost;
    for (std::size_t mergeClass = 0; mergeClass < maxMergeClasses; ++mergeClass)
      above |= state.open[mergeClass] < open[mergeClass];
    return above;
  }
  void add(const PlanState &state) {
    compute = std::min(compute, state.compute);
    lost = std::min(lost, state.lost);
    held = std::min(held, state.held);
    for (std::size_t mergeClass = 0; mergeClass < maxMergeClasses; ++mergeClass)
      open[mergeClass] = std::min(open[mergeClass], state.open[mergeClass]);
  }

private:
  double compute = std::numeric_limits<double>::infinity();
  double lost = std::numeric_limits<double>::infinity();
  std::int64_t held = unlimited;
  std::array<std::int64_t, maxMergeClasses> open{unlimited, unlimited, unlimited};
};

/// The states of one freedom in a plane (Dominance::isPlane()) that no other one of them dominates:
/// as `compute` ascends, open bytes descend.
class Staircase {
public:
  bool dominates(const PlanState &state) const {
    auto above = std::ranges::upper_bound(steps, state.compute * (1 + 1e-14), {}, &Step::compute);
    return above != steps.begin() && std::prev(above)->open <= state.open[0];
  }
  /// Precondition: !dominates(state).
  void add(const PlanState &state) {
    const std::int64_t open = state.open[0];
    auto first = std::ranges::lower_bound(steps, state.compute, {}, &Step::compute);
    auto end = std::find_if(first, steps.end(), [&](const Step &step) { return step.open < open; });
    steps.insert(steps.erase(first, end), {state.compute, open});
  }

private:
  struct Step {
    double compute;
    std::int64_t open;
  };
  std::vector<Step> steps;
};

/// The states of a plane that no other one dominates.
class Plane {
public:
  /// Adds the state unless one of those added before dominates it; returns whether it did.
  bool add(const PlanState &state) {
    for (const auto &[freedom, steps] : byFreedom)
      if (!(state.freedom & ~freedom) && steps.dominates(state))
        return false;
    auto own = std::ranges::find(byFreedom, state.freedom, &Group::freedom);
    if (own == byFreedom.end())
      own = byFreedom.insert(own, {state.freedom, {}});
    own->steps.add(state);
    return true;
  }

private:
  struct Group {
    decltype(PlanState::freedom) freedom;
    Staircase steps;
  };
  std::vector<Group> byFreedom; ///< few: a layer has few pairs of which one is decided
};

/// The labels' indices by ascending sortKey, equal ones as they were. Sorting indices moves less
/// than sorting labels.
std::vector<std::uint32_t> sortedByState(const std::vector<Label> &labels) {
  std::vector<std::pair<double, std::uint32_t>> keys(labels.size());
  for (std::uint32_t i = 0; i < labels.size(); ++i)
    keys[i] = {labels[i].state.free, i};
  std::ranges::sort(keys, [&](const auto &a, const auto &b) {
    if (a.first != b.first)
      return a.first < b.first;
    const auto one = sortKey(labels[a.second].state), other = sortKey(labels[b.second].state);
    return one != other ? one < other : a.second < b.second;
  });
  std::vector<std::uint32_t> order(keys.size());
  std::ranges::transform(keys, order.begin(), &std::pair<double, std::uint32_t>::second);
  return order;
}

/// Drops labels that another label dominates. Of labels that dominate each other the first stays,
/// so factor options win over closed buckets, and these over open ones.
void removeDominated(std::vector<Label> &labels, const Dominance &dominates) {
  // A late label's dominator is likely among the latest kept. Further back, comparing costs more
  // than carrying a superfluous label.
  constexpr std::size_t window = 200;
  const bool isPlane = dominates.isPlane(labels);
  Plane plane;
  Floor floor;
  std::vector<Label> kept;
  const auto isDominated = [&](const PlanState &state) {
    if (isPlane)
      return !plane.add(state);
    if (floor.isAbove(state))
      return false;
    const std::size_t least = kept.size() > window ? kept.size() - window : 0;
    for (std::size_t j = kept.size(); j-- > least;)
      if (dominates(kept[j].state, state))
        return true;
    return false;
  };
  for (const std::uint32_t i : sortedByState(labels)) {
    const PlanState &state = labels[i].state;
    if (isDominated(state))
      continue;
    floor.add(state);
    kept.push_back(labels[i]);
  }
  labels = std::move(kept);
}

/// Keeps the `most` labels with the most slack, by descending slack, equal ones as they were;
/// returns whether any was dropped.
bool cutDown(std::vector<Label> &labels, std::size_t most) {
  if (labels.size() <= most)
    return false;
  std::vector<std::pair<double, std::uint32_t>> keys(labels.size());
  for (std::uint32_t i = 0; i < labels.size(); ++i)
    keys[i] = {-labels[i].slack, i};
  std::ranges::partial_sort(keys, keys.begin() + static_cast<std::ptrdiff_t>(most));
  std::vector<Label> kept;
  kept.reserve(most);
  for (std::size_t i = 0; i < most; ++i)
    kept.push_back(labels[keys[i].second]);
  labels = std::move(kept);
  return true;
}

std::vector<Choice> trace(const std::vector<std::vector<Step>> &history, std::uint32_t last) {
  std::vector<Choice> choices(history.size());
  for (std::size_t k = history.size(); k-- > 0;) {
    choices[k] = history[k][last].choice;
    last = history[k][last].parent;
  }
  return choices;
}

} // namespace

LabelSearch searchLabels(const Problem &problem, const StateBound &bound, double target,
                         std::size_t most, bool proving) {
  PlanSteps steps(problem);
  Dominance dominates(problem);
  LabelSearch result;
  std::vector<std::vector<Step>> history;
  std::vector<Label> labels, next;
  if (PlanState root = steps.root(); bound.isViable(bound.slack(root, 0)))
    labels.push_back({root, 0, 0, {}});
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    next.clear();
    for (std::uint32_t parent = 0; parent < labels.size(); ++parent)
      steps.forEach(labels[parent].state, k, [&](Choice choice, const PlanState &state) {
        if (double slack = bound.slack(state, k + 1); bound.isViable(slack))
          next.push_back({state, slack, parent, choice});
      });
    removeDominated(next, dominates);
    result.isCut |= cutDown(next, most);
    if (result.isCut && proving)
      return result;
    std::vector<Step> layerSteps;
    layerSteps.reserve(next.size());
    for (const Label &label : next)
      layerSteps.push_back({label.parent, label.choice});
    history.push_back(std::move(layerSteps));
    std::swap(labels, next);
  }

  auto ends = [](const Label &label) { return PlanSteps::finish(label.state); };
  if (auto best = std::ranges::min_element(labels, {}, ends);
      best != labels.end() && ends(*best) < target)
    result.choices = trace(history, static_cast<std::uint32_t>(best - labels.begin()));
  return result;
}

} // namespace syncline::solver
