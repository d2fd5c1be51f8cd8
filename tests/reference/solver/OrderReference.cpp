// Dynamic programming over what has become of each part: not sent, between the halves of a message,
// or arrived.
#include "tests/reference/solver/OrderReference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace syncline::reference {

namespace {

/// A part of one layer, or the layer's factors. A message is a run of parts of one merge class.
struct Part {
  std::size_t layer = 0, mergeClass = 0;
  std::int64_t bytes = 0;
  bool isFactors = false;
};

std::int64_t partsOf(const OrderProblem &problem, std::size_t k) {
  return (problem.sync.layers[k].bytes + problem.grain - 1) / problem.grain;
}

/// The search for fixed ways.
class FixedChoices {
public:
  FixedChoices(const OrderProblem &problem, const std::vector<Choice> &choices)
      : problem(problem), sync(problem.sync), choices(choices), after(choices.size()),
        afterRiders(choices.size()) {
    for (std::size_t l = 0; l < sync.mergeClasses.size(); ++l)
      for (std::size_t k = choices.size(); k-- > 0;)
        if (choices[k] == Choice{Choice::Kind::bucket, static_cast<std::uint8_t>(l)})
          for (std::int64_t at = 0; at < sync.layers[k].bytes; at += problem.grain)
            parts.push_back({k, l, std::min(problem.grain, sync.layers[k].bytes - at), false});
    for (std::size_t k = 0; k < choices.size(); ++k)
      if (choices[k].kind == Choice::Kind::factors)
        parts.push_back({k, 0, 0, true});
    // What the device still has to do once layer k's gradient has arrived, but for its own update.
    // A carrier's message brings its piggybacks' gradients, too.
    for (std::size_t k = 0; k < choices.size(); ++k) {
      const double left = problem.tail[k] + reconstructionFrom(k);
      if (senderOf(k) == k)
        after[k] = left;
      else
        afterRiders[senderOf(k)] = std::max(afterRiders[senderOf(k)], left + problem.updateOf(k));
    }
  }

  double period() const {
    // Only times that no others beat in all are kept. A message only raises states, so that those
    // behind in the map are reached from those before.
    Reached reached = {{0, {{0, problem.compute() + reconstructionFrom(none), 0}}}};
    double least = infinity;
    for (auto &[state, times] : reached) {
      keepBest(times);
      for (const Times &before : times)
        for (std::size_t first = 0; first < parts.size(); ++first)
          if (const State what = of(state, first); what == unsent)
            send(reached, state, first, before);
          else if (what == begins)
            sendSecondHalf(reached, state, first, before);
      if (state == all())
        for (const Times &end : times)
          least = std::min(least, end.latest);
    }
    return least;
  }

private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  /// Two bits a part. The first halves of one message are one part that begins it and those that
  /// continue it.
  using State = std::uint64_t;
  static constexpr State unsent = 0, begins = 1, continues = 2, arrived = 3;

  /// When the channel is free, the period if nothing else travelled, and the seconds that messages
  /// have taken from computation.
  struct Times {
    double free, latest, lost;
    auto operator<=>(const Times &) const = default;
  };
  using Reached = std::map<State, std::set<Times>>; ///< by what has become of each part

  /// What a message costs.
  struct Cost {
    double seconds, lost;
  };

  static State of(State state, std::size_t part) { return state >> 2 * part & 3; }
  static State with(State state, std::size_t part, State what) {
    return (state & ~(State{3} << 2 * part)) | what << 2 * part;
  }
  State all() const { return (State{1} << 2 * parts.size()) - 1; }

  std::size_t senderOf(std::size_t k) const {
    return choices[k].kind == Choice::Kind::piggyback ? *sync.layers[k].carrier : k;
  }

  /// Seconds to reconstruct layer k and those read after it, in the order of the readers; of all
  /// layers where k is none.
  double reconstructionFrom(std::size_t k) const {
    double seconds = 0;
    for (std::size_t j = 0; j < choices.size(); ++j)
      if (choices[j].kind == Choice::Kind::factors &&
          (k == none || problem.tail[j] < problem.tail[k] ||
           (problem.tail[j] == problem.tail[k] && j >= k)))
        seconds += sync.layers[j].factorOptions[choices[j].index].reconstruct;
    return seconds;
  }

  /// Seconds to update the parts of layer k that have not arrived. Those that have may be updated
  /// while the others are awaited.
  double missing(State state, std::size_t k) const {
    if (choices[k].kind != Choice::Kind::bucket)
      return problem.updateOf(k);
    double bytes = 0;
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (parts[p].layer == k && of(state, p) != arrived)
        bytes += static_cast<double>(parts[p].bytes);
    return problem.updateOf(k) * bytes / static_cast<double>(sync.layers[k].bytes);
  }

  static void keepBest(std::set<Times> &times) {
    std::vector<Times> kept;
    std::erase_if(times, [&](const Times &next) {
      const bool isBeaten = std::ranges::any_of(kept, [&](const Times &other) {
        return other.latest <= next.latest && other.lost <= next.lost;
      });
      if (!isBeaten)
        kept.push_back(next);
      return isBeaten;
    });
  }

  /// Seconds of the step behind the arrival of a message with part p.
  double behind(State state, std::size_t p) const {
    const std::size_t k = parts[p].layer;
    return std::max(after[k] + missing(state, k), afterRiders[k]);
  }

  /// Adds all messages, and all first halves, that begin with part `first`.
  void send(Reached &reached, State state, std::size_t first, const Times &before) const {
    double ready = 0, next = 0;
    std::int64_t bytes = 0;
    State whole = state, half = state;
    for (std::size_t p = first; p < parts.size() && of(state, p) == unsent; ++p) {
      const Part &part = parts[p];
      if (p > first &&
          (part.isFactors || parts[first].isFactors || part.mergeClass != parts[first].mergeClass))
        return;
      bytes += part.bytes;
      ready = std::max(ready, sync.layers[part.layer].ready);
      next = std::max(next, behind(state, p));
      whole = with(whole, p, arrived);
      half = with(half, p, p == first ? begins : continues);
      if (!part.isFactors && bytes > sync.mergeClasses[part.mergeClass].largestMessage)
        return;
      // A gradient is complete when its last part is; charging each part's arrival is the same.
      for (const Cost &cost : costsOf(part, bytes))
        reached[whole].insert(behindMessage(before, ready, cost, next));
      if (const std::optional<Cost> each = costOfHalf(part, bytes))
        reached[half].insert(behindMessage(before, ready, *each, -infinity));
    }
  }

  /// Adds the second half of the message that part `first` begins.
  void sendSecondHalf(Reached &reached, State state, std::size_t first, const Times &before) const {
    double next = 0;
    std::int64_t bytes = 0;
    State then = state;
    for (std::size_t p = first; p == first || (p < parts.size() && of(state, p) == continues);
         ++p) {
      bytes += parts[p].bytes;
      next = std::max(next, behind(state, p));
      then = with(then, p, arrived);
    }
    reached[then].insert(behindMessage(before, 0, costOfHalf(parts[first], bytes).value(), next));
  }

  /// The times behind a message of gradients that exist undisturbed at `ready`, with `next` seconds
  /// of the step behind it. What it takes from computation delays the period of all before it.
  static Times behindMessage(const Times &before, double ready, const Cost &cost, double next) {
    const double end = std::max(before.free, ready + before.lost) + cost.seconds;
    return {end, std::max(before.latest + cost.lost, end + next), before.lost + cost.lost};
  }

  /// The cost by each option that a message of the part, or one that ends with it, may use.
  std::vector<Cost> costsOf(const Part &part, std::int64_t bytes) const {
    if (part.isFactors) {
      const FactorOption &option = sync.layers[part.layer].factorOptions[choices[part.layer].index];
      return {{option.seconds, option.lost}};
    }
    std::vector<Cost> costs;
    for (const SchemeOption &option : sync.mergeClasses[part.mergeClass].options)
      costs.push_back({option.cost->seconds(bytes), option.lostSeconds(bytes)});
    return costs;
  }

  /// The cost by the fastest scheme that has halves; none if the merge class has no such scheme.
  std::optional<Cost> costOfHalf(const Part &part, std::int64_t bytes) const {
    std::optional<Cost> least;
    if (!part.isFactors)
      for (const SchemeOption &option : sync.mergeClasses[part.mergeClass].options)
        if (const double seconds = option.cost->seconds(bytes) / 2;
            hasHalves(option.scheme) && (!least || seconds < least->seconds))
          least = {seconds, option.lostSeconds(bytes) / 2};
    return least;
  }

  const OrderProblem &problem;
  const Problem &sync;
  const std::vector<Choice> &choices;
  std::vector<Part> parts;
  std::vector<double> after, afterRiders;
};

/// Calls `visit` with every combination of ways from layer k on.
template <typename Visit>
void forAllChoices(const Problem &problem, std::vector<Choice> &choices, std::size_t k,
                   const Visit &visit) {
  if (k == problem.layers.size()) {
    for (std::size_t j = 0; j < k; ++j)
      if (choices[j].kind == Choice::Kind::piggyback &&
          choices[*problem.layers[j].carrier].kind != Choice::Kind::factors)
        return;
    for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
      if (ClassLayout(problem, choices, l).bytes() > problem.mergeClasses[l].capacity)
        return;
    visit();
    return;
  }
  const Layer &layer = problem.layers[k];
  for (std::uint8_t l = 0; l < problem.mergeClasses.size(); ++l)
    if (layer.mergeClasses >> l & 1) {
      choices[k] = {Choice::Kind::bucket, l};
      forAllChoices(problem, choices, k + 1, visit);
    }
  for (std::uint8_t o = 0; o < layer.factorOptions.size(); ++o) {
    choices[k] = {Choice::Kind::factors, o};
    forAllChoices(problem, choices, k + 1, visit);
  }
  if (layer.carrier) {
    choices[k] = {Choice::Kind::piggyback, 0};
    forAllChoices(problem, choices, k + 1, visit);
  }
}

} // namespace

std::size_t countParts(const OrderProblem &problem) {
  std::int64_t parts = 0;
  for (std::size_t k = 0; k < problem.sync.layers.size(); ++k)
    parts += std::max<std::int64_t>(1, partsOf(problem, k));
  return static_cast<std::size_t>(parts);
}

double shortestPeriod(const OrderProblem &problem) {
  std::vector<Choice> choices(problem.sync.layers.size());
  double best = infinity;
  forAllChoices(problem.sync, choices, 0,
                [&] { best = std::min(best, FixedChoices(problem, choices).period()); });
  return best;
}

} // namespace syncline::reference
