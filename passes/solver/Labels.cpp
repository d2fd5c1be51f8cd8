// The label search.
#include "passes/solver/Labels.h"

#include "passes/solver/PlanSteps.h"

#include <algorithm>
#include <tuple>

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
  return !segments.empty();
}

/// Whether every completion of one state also completes another, which then ends no later.
class Dominance {
public:
  explicit Dominance(const Problem &problem) : mergeClasses(problem.mergeClasses.size()) {
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
      nondecreasing[mergeClass] = std::ranges::all_of(
          problem.mergeClasses[mergeClass].options,
          [](const SchemeOption &option) { return isNondecreasing(*option.cost); });
  }

  bool operator()(const PlanState &a, const PlanState &b) const {
    if (a.free > b.free * (1 + 1e-14) || a.compute > b.compute * (1 + 1e-14) || a.held > b.held ||
        (b.freedom & ~a.freedom))
      return false;
    for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass)
      if (nondecreasing[mergeClass] ? a.open[mergeClass] > b.open[mergeClass]
                                    : a.open[mergeClass] != b.open[mergeClass])
        return false;
    return true;
  }

private:
  std::size_t mergeClasses;
  std::array<bool, maxMergeClasses> nondecreasing{};
};

auto sortKey(const PlanState &s) {
  return std::tie(s.free, s.compute, s.open[0], s.open[1], s.open[2], s.held);
}

/// The minimum of each number over some states. No kept state dominates a state below a minimum.
class Floor {
public:
  bool isAbove(const PlanState &state) const {
    bool above = state.compute * (1 + 1e-14) < compute || state.held < held;
    for (std::size_t mergeClass = 0; mergeClass < maxMergeClasses; ++mergeClass)
      above |= state.open[mergeClass] < open[mergeClass];
    return above;
  }
  void add(const PlanState &state) {
    compute = std::min(compute, state.compute);
    held = std::min(held, state.held);
    for (std::size_t mergeClass = 0; mergeClass < maxMergeClasses; ++mergeClass)
      open[mergeClass] = std::min(open[mergeClass], state.open[mergeClass]);
  }

private:
  double compute = std::numeric_limits<double>::infinity();
  std::int64_t held = unlimited;
  std::array<std::int64_t, maxMergeClasses> open{unlimited, unlimited, unlimited};
};

/// Drops labels that another label dominates. Of labels that dominate each other the first stays,
/// so factor options win over closed buckets, and these over open ones.
void removeDominated(std::vector<Label> &labels, const Dominance &dominates) {
  std::ranges::stable_sort(
      labels, [](const Label &a, const Label &b) { return sortKey(a.state) < sortKey(b.state); });
  // A late label's dominator is likely among the latest kept. Further back, comparing costs more
  // than carrying a superfluous label.
  constexpr std::size_t window = 200;
  std::size_t kept = 0;
  Floor floor;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    bool superfluous = false;
    std::size_t least = kept > window ? kept - window : 0;
    if (floor.isAbove(labels[i].state))
      least = kept;
    for (std::size_t j = kept; j-- > least && !superfluous;)
      superfluous = dominates(labels[j].state, labels[i].state);
    if (superfluous)
      continue;
    floor.add(labels[i].state);
    if (kept != i)
      labels[kept] = labels[i];
    ++kept;
  }
  labels.resize(kept);
}

/// Keeps the `most` labels with the most slack; returns whether any was dropped.
bool cutDown(std::vector<Label> &labels, std::size_t most) {
  if (labels.size() <= most)
    return false;
  std::ranges::stable_sort(labels, std::greater<>(), &Label::slack);
  labels.resize(most);
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

std::vector<PlanState> statesOf(const std::vector<Label> &labels) {
  std::vector<PlanState> states;
  states.reserve(labels.size());
  for (const Label &label : labels)
    states.push_back(label.state);
  return states;
}

} // namespace

LabelSearch searchLabels(const Problem &problem, const StateBound &bound, double target,
                         std::size_t most, bool proving,
                         std::vector<std::vector<PlanState>> *kept) {
  PlanSteps steps(problem);
  Dominance dominates(problem);
  LabelSearch result;
  std::vector<std::vector<Step>> history;
  std::vector<Label> labels, next;
  if (PlanState root = steps.root(); bound.isViable(bound.slack(root, 0)))
    labels.push_back({root, 0, 0, {}});
  auto keep = [&] {
    if (kept)
      kept->push_back(statesOf(labels));
  };
  keep();
  for (std::size_t k = 0; k < problem.layers.size(); ++k) {
    next.clear();
    for (std::uint32_t parent = 0; parent < labels.size(); ++parent)
      steps.forEach(labels[parent].state, k, [&](Choice choice, const PlanState &state) {
        if (double slack = bound.slack(state, k + 1); bound.isViable(slack))
          next.push_back({state, slack, parent, choice});
      });
    removeDominated(next, dominates);
    result.isCut |= cutDown(next, most);
    result.labels += next.size();
    if (result.isCut && proving)
      return result;
    std::vector<Step> layerSteps;
    layerSteps.reserve(next.size());
    for (const Label &label : next)
      layerSteps.push_back({label.parent, label.choice});
    history.push_back(std::move(layerSteps));
    std::swap(labels, next);
    keep();
  }

  auto ends = [](const Label &label) { return PlanSteps::finish(label.state); };
  if (auto best = std::ranges::min_element(labels, {}, ends); best != labels.end()) {
    result.finish = ends(*best);
    if (result.finish < target)
      result.choices = trace(history, static_cast<std::uint32_t>(best - labels.begin()));
  }
  return result;
}

} // namespace syncline::solver
