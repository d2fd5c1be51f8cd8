// Replays a plan whose buckets have other members.
#include "passes/explain/Regrouping.h"

#include "passes/explain/Alternatives.h"
#include "passes/explain/SchemeRequest.h"
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::explain {

using namespace problem;
using namespace solver;

namespace {

using Members = std::vector<std::size_t>;

/// Seconds that all messages take the channel.
double busySeconds(const Problem &problem, const Solution &plan) {
  double seconds = 0;
  for (const Message &message : plan.messages)
    seconds += secondsOf(problem, message);
  return seconds;
}

class Regrouper {
public:
  Regrouper(const Problem &problem, const Solution &plan, const Message &message)
      : problem(problem), plan(plan), mergeClass(message.mergeClass), option(message.option),
        busy(busySeconds(problem, plan)), choices(choicesOf(problem, plan)) {
    for (const Message &other : plan.messages) {
      if (other.isFactors)
        continue;
      isFastest = isFastest &&
                  other.option == problem.mergeClasses[other.mergeClass].bestOption(other.bytes);
      if (other.mergeClass != mergeClass)
        continue;
      if (&other == &message)
        own = groups.size();
      groups.push_back(other.layers);
    }
  }

  void addTo(Grouping &grouping) {
    if (own > 0)
      changeBefore();
    if (own + 1 < groups.size())
      changeBehind();
    if (groups[own].size() > 1)
      divide();
    grouping.changes = std::move(changes);
    grouping.splits = splits;
  }

private:
  const Members &members() const { return groups[own]; }

  void changeBefore() {
    const Members &before = groups[own - 1];
    const std::size_t last = before.back(), first = members().front();
    if (before.size() > 1)
      add(Move::joinBefore, last, last, members().back(),
          {Members(before.begin(), before.end() - 1), with({last}, members())});
    add(Move::mergeBefore, before.front(), last, members().back(), {with(before, members())});
    if (members().size() > 1)
      add(Move::leaveBefore, first, last, first,
          {with(before, {first}), Members(members().begin() + 1, members().end())});
  }

  void changeBehind() {
    const Members &behind = groups[own + 1];
    const std::size_t last = members().back();
    if (behind.size() > 1)
      add(Move::joinBehind, behind.front(), last, behind.front(),
          {with(members(), {behind.front()}), Members(behind.begin() + 1, behind.end())});
    add(Move::mergeBehind, behind.front(), last, behind.back(), {with(members(), behind)});
    if (members().size() > 1)
      add(Move::leaveBehind, last, last, behind.back(),
          {Members(members().begin(), members().end() - 1), with({last}, behind)});
  }

  /// Splits behind the first and before the last of several members are those members alone.
  void divide() {
    const std::size_t last = members().back();
    for (std::size_t i = 1; i < members().size(); ++i) {
      const bool isPair = members().size() == 2, isFirst = i == 1 && !isPair,
                 isLast = i + 1 == members().size() && !isPair;
      const auto cut = members().begin() + static_cast<std::ptrdiff_t>(i);
      const std::vector<Members> parts{Members(members().begin(), cut),
                                       Members(cut, members().end())};
      if (isFirst)
        add(Move::firstAlone, members().front(), members().front(), last, parts);
      if (isLast)
        add(Move::lastAlone, last, members()[i - 1], last, parts);
      if (!isFirst && !isLast)
        addSplit({.move = Move::split, .layer = *cut, .waiting = members()[i - 1], .awaited = last},
                 parts);
    }
    if (splits > 0)
      changes.push_back(std::move(bestSplit));
    if (members().size() > 2) {
      std::vector<Members> each;
      for (std::size_t k : members())
        each.push_back({k});
      add(Move::allAlone, members().front(), members().front(), last, each);
    }
  }

  static Members with(Members first, const Members &second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  void add(Move move, std::size_t layer, std::size_t waiting, std::size_t awaited,
           const std::vector<Members> &groupsNow) {
    changes.push_back(
        timed({.move = move, .layer = layer, .waiting = waiting, .awaited = awaited}, groupsNow));
  }

  /// Keeps the best alone: a bucket of thousands of members has as many splits.
  void addSplit(Regrouping change, const std::vector<Members> &parts) {
    change = timed(std::move(change), parts);
    if (splits++ == 0 || change.finish < bestSplit.finish)
      bestSplit = std::move(change);
  }

  Regrouping timed(Regrouping change, const std::vector<Members> &groupsNow) const {
    std::vector<Choice> changed = choices;
    const auto index = static_cast<std::uint8_t>(mergeClass);
    for (const Members &group : groupsNow) {
      std::int64_t bytes = 0;
      for (std::size_t k : group) {
        changed[k] = {Choice::Kind::join, index};
        bytes += problem.layers[k].bytes;
      }
      changed[group.back()] = {Choice::Kind::bucket, index,
                               isFastest ? Choice::fastest : static_cast<std::uint8_t>(option)};
      change.bytes = std::max(change.bytes, bytes);
    }
    if (choicesAreSound(problem, changed))
      judge(change, replay(problem, changed));
    return change;
  }

  void judge(Regrouping &change, Solution changed) const {
    ComputationClock clock(problem);
    for (const Message &message : changed.messages)
      clock.add(message.start, message.end, lossOf(problem, message));
    change.waitingReady = clock.at(problem.layers[change.waiting].ready);
    change.awaitedReady = clock.at(problem.layers[change.awaited].ready);
    change.finish = finishOf(problem, changed);
    change.exposed = change.finish - problem.computeFree - reconstructionOf(problem, changed);
    change.busy = busySeconds(problem, changed) - busy;
    change.idle = changed.communicationEnd - plan.communicationEnd - change.busy;
    change.added = static_cast<std::int64_t>(changed.messages.size()) -
                   static_cast<std::int64_t>(plan.messages.size());
    change.latency = problem.mergeClasses[mergeClass].options[option].cost->seconds(0);
    change.plan = std::move(changed);
  }

  const Problem &problem;
  const Solution &plan;
  std::size_t mergeClass, option, own = 0;
  bool isFastest = true;
  double busy;
  std::vector<Choice> choices;
  std::vector<Members> groups; ///< buckets of the class, in issue order
  std::vector<Regrouping> changes;
  Regrouping bestSplit;
  std::size_t splits = 0;
};

/// The problem in which every layer must travel in buckets, by the plan's schemes; nothing where
/// Grouping::bestCuts says so.
std::optional<Problem> onlyCutsOf(const Problem &problem, const Solution &plan) {
  const Message &first = plan.messages.front();
  const bool isOneClass = std::ranges::all_of(plan.messages, [&](const Message &message) {
    return !message.isFactors && message.mergeClass == first.mergeClass;
  });
  if (!isOneClass)
    return std::nullopt;
  Problem cuts = problem;
  MergeClass &mergedBy = cuts.mergeClasses[first.mergeClass];
  if (std::ranges::all_of(plan.messages,
                          [&](const Message &message) { return message.option == first.option; }))
    mergedBy.options = {mergedBy.options[first.option]};
  else if (!std::ranges::all_of(plan.messages, [&](const Message &message) {
             return message.option == mergedBy.bestOption(message.bytes);
           }))
    return std::nullopt;
  mergedBy.capacity = unlimited; // all layers are in it already
  cuts.mergeClasses = std::vector{mergedBy};
  for (Layer &layer : cuts.layers) {
    layer.mergeClasses = 1;
    layer.factorOptions.clear();
    layer.carrier.reset();
  }
  return cuts;
}

} // namespace

double reconstructionOf(const Problem &problem, const Solution &plan) {
  double seconds = 0;
  for (const Message &message : plan.messages)
    if (const FactorOption *factors = factorOptionOf(problem, message))
      seconds += factors->reconstruct;
  return seconds;
}

std::optional<Grouping> groupingOf(const Problem &problem, const Solution &plan, std::size_t layer,
                                   const SolverOptions &options) {
  const Message &message = messageOf(problem, plan, layer);
  if (message.isFactors)
    return std::nullopt;
  Grouping grouping{.message = static_cast<std::size_t>(&message - plan.messages.data()),
                    .members = message.layers,
                    .bytes = message.bytes,
                    .largestMessage = problem.mergeClasses[message.mergeClass].largestMessage,
                    .finish = finishOf(problem, plan)};
  grouping.exposed = grouping.finish - problem.computeFree - reconstructionOf(problem, plan);
  Regrouper(problem, plan, message).addTo(grouping);
  if (const std::optional<Problem> cuts = onlyCutsOf(problem, plan))
    grouping.bestCuts = std::min(grouping.finish, finishOf(*cuts, solve(*cuts, options).plan));
  return grouping;
}

} // namespace syncline::explain
