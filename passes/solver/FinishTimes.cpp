// Computes the recursion f piece by piece. README.md proves the two facts that it uses: "early"
// starts (f(i) <= r_j) stay early, and within one straight piece the best early and the best late
// start are found without looking at the others.
#include "passes/solver/FinishTimes.h"

#include "passes/solver/IndexSet.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace syncline::solver {

namespace {

template <typename Key> struct Candidate {
  Key key;
  std::size_t start; ///< i: the group is layers i+1..j

  auto operator<=>(const Candidate &) const = default;
};

/// A comparison that keeps the least candidate on top of a heap.
constexpr std::greater<> minOnTop;

/// The recursion's state before f(j) is known, which every piece reads.
struct State {
  const std::vector<std::int64_t> &prefix;
  std::vector<double> finish; ///< f(0..j-1)
  IndexSet early;             ///< the i with f(i) <= r_j
  double ready = 0;           ///< r_j
};

/// One straight piece of one option's cost. The starts i whose message to j falls on the piece are
/// a window of indices that only moves right, so each i enters the heap at most once.
class Piece {
public:
  Piece(const CollectiveCost &cost, std::size_t index) : cost(cost) {
    const CostSegment &segment = cost.segments()[index];
    firstByte = segment.firstByte;
    slope = segment.slope;
    least = segment.base;
    if (index + 1 < cost.segments().size()) {
      endByte = cost.segments()[index + 1].firstByte;
      least = std::min(least, cost.seconds(endByte - 1));
    }
  }

  /// The least seconds of a message on this piece.
  double minSeconds() const { return least; }

  /// The least max(f(i), r_j) + T over the window; infinity when the window is empty.
  double best(const State &state) {
    moveWindow(state);
    double value = infinity;
    if (begin == end)
      return value;
    if (auto start = bestEarly(state))
      value = evaluate(state, *start);
    if (auto start = bestLate(state))
      value = std::min(value, evaluate(state, *start));
    return value;
  }

private:
  void moveWindow(const State &state) {
    std::size_t j = state.finish.size();
    std::int64_t total = state.prefix[j];
    while (begin < j && total - state.prefix[begin] >= endByte)
      ++begin;
    end = std::max(end, begin);
    while (end < j && total - state.prefix[end] >= firstByte)
      ++end;
  }

  /// The best early start. All early starts wait for r_j, so only the message's length matters.
  std::optional<std::size_t> bestEarly(const State &state) const {
    auto start = slope >= 0 ? state.early.lastBelow(end) : state.early.firstFrom(begin);
    return start && *start >= begin && *start < end ? start : std::nullopt;
  }

  /// The best late start. Late starts compare by f(i) - slope * prefix(i), which does not depend on
  /// j. A start that has become early or has left the window never comes back; it is dropped when
  /// it reaches the top, or with all such starts when they are the majority of the heap.
  std::optional<std::size_t> bestLate(const State &state) {
    auto isGone = [&](const Candidate<long double> &candidate) {
      return candidate.start < begin || state.finish[candidate.start] <= state.ready;
    };
    for (added = std::max(added, begin); added < end; ++added) {
      if (state.finish[added] <= state.ready)
        continue;
      late.push_back({lateKey(state, added), added});
      std::ranges::push_heap(late, minOnTop);
    }
    if (late.size() > 2 * (end - begin) + 64) {
      std::erase_if(late, isGone);
      std::ranges::make_heap(late, minOnTop);
    }
    while (!late.empty() && isGone(late.front())) {
      std::ranges::pop_heap(late, minOnTop);
      late.pop_back();
    }
    return late.empty() ? std::nullopt : std::optional(late.front().start);
  }

  /// The key in extended precision, since slope * prefix may far exceed f where a piece is steep.
  long double lateKey(const State &state, std::size_t start) const {
    return state.finish[start] -
           static_cast<long double>(slope) * static_cast<double>(state.prefix[start]);
  }

  double evaluate(const State &state, std::size_t start) const {
    std::int64_t bytes = state.prefix[state.finish.size()] - state.prefix[start];
    return std::max(state.finish[start], state.ready) + cost.seconds(bytes);
  }

  const CollectiveCost &cost;
  std::int64_t firstByte = 0;
  std::int64_t endByte = std::numeric_limits<std::int64_t>::max();
  double slope = 0;
  double least = 0;
  std::size_t begin = 0, end = 0;           ///< the window
  std::size_t added = 0;                    ///< starts below this have been queued or skipped
  std::vector<Candidate<long double>> late; ///< a heap of late starts
};

} // namespace

std::vector<double> earliestFinishTimes(const MergeProblem &problem) {
  std::vector<Piece> pieces;
  for (const SchemeOption &option : problem.options)
    for (std::size_t i = 0; i < option.cost->segments().size(); ++i)
      pieces.emplace_back(*option.cost, i);

  std::vector<std::int64_t> prefix = problem.prefixBytes();
  State state{prefix, {0}, IndexSet(prefix.size())};
  state.finish.reserve(prefix.size());
  std::priority_queue<Candidate<double>, std::vector<Candidate<double>>, std::greater<>> late;
  for (const MergeLayer &layer : problem.layers) {
    state.ready = layer.ready;
    late.push({state.finish.back(), state.finish.size() - 1});
    for (; !late.empty() && late.top().key <= state.ready; late.pop())
      state.early.insert(late.top().start);

    double best = infinity;
    for (Piece &piece : pieces)
      if (state.ready + piece.minSeconds() < best)
        best = std::min(best, piece.best(state));
    state.finish.push_back(best);
  }
  return std::move(state.finish);
}

} // namespace syncline::solver
