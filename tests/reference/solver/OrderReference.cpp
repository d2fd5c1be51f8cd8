// Dynamic programming over the sets of parts that have travelled.
#include "tests/reference/solver/OrderReference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace syncline::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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
class FixedWays {
public:
  FixedWays(const OrderProblem &problem, const std::vector<Way> &ways)
      : problem(problem), sync(problem.sync), ways(ways), after(ways.size()),
        afterRiders(ways.size()) {
    for (std::size_t l = 0; l < sync.mergeClasses.size(); ++l)
      for (std::size_t k = ways.size(); k-- > 0;)
        if (ways[k] == Way{Way::Kind::bucket, static_cast<std::uint8_t>(l)})
          for (std::int64_t at = 0; at < sync.layers[k].bytes; at += problem.grain)
            parts.push_back({k, l, std::min(problem.grain, sync.layers[k].bytes - at), false});
    for (std::size_t k = 0; k < ways.size(); ++k)
      if (ways[k].kind == Way::Kind::factors)
        parts.push_back({k, 0, 0, true});
    // What the device still has to do once layer k's gradient has arrived, but for its own update.
    // A carrier's message brings its piggybacks' gradients, too.
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const double left = problem.tail[k] + reconstructionFrom(k);
      if (senderOf(k) == k)
        after[k] = left;
      else
        afterRiders[senderOf(k)] = std::max(afterRiders[senderOf(k)], left + problem.updateOf(k));
    }
  }

  double period() const {
    // For every set of parts that have travelled: when the channel is free, and the latest of
    // arrivals and what follows them. Only pairs that no other pair beats in both are kept.
    std::vector<std::set<std::pair<double, double>>> reached(std::size_t{1} << parts.size());
    reached[0].insert({0, problem.compute() + reconstructionFrom(none)});
    for (std::size_t sent = 0; sent + 1 < reached.size(); ++sent) {
      if (sent > 0)
        keepBest(reached[sent]);
      for (const auto &[free, latest] : reached[sent])
        for (std::size_t first = 0; first < parts.size(); ++first)
          extend(reached, sent, first, free, latest);
    }
    double best = infinity;
    for (const auto &[free, latest] : reached.back())
      best = std::min(best, latest);
    return best;
  }

private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  std::size_t senderOf(std::size_t k) const {
    return ways[k].kind == Way::Kind::piggyback ? *sync.layers[k].carrier : k;
  }

  /// Seconds to reconstruct layer k and those read after it, in the order of the readers; of all
  /// layers where k is none.
  double reconstructionFrom(std::size_t k) const {
    double seconds = 0;
    for (std::size_t j = 0; j < ways.size(); ++j)
      if (ways[j].kind == Way::Kind::factors && (k == none || problem.tail[j] < problem.tail[k] ||
                                                 (problem.tail[j] == problem.tail[k] && j >= k)))
        seconds += sync.layers[j].factorOptions[ways[j].index].reconstruct;
    return seconds;
  }

  /// Seconds to update the parts of layer k that have not travelled. Those that have may be updated
  /// while the others are awaited.
  double missing(std::size_t sent, std::size_t k) const {
    if (ways[k].kind != Way::Kind::bucket)
      return problem.updateOf(k);
    double bytes = 0;
    for (std::size_t p = 0; p < parts.size(); ++p)
      bytes += parts[p].layer == k && !(sent >> p & 1) ? static_cast<double>(parts[p].bytes) : 0;
    return problem.updateOf(k) * bytes / static_cast<double>(sync.layers[k].bytes);
  }

  static void keepBest(std::set<std::pair<double, double>> &pairs) {
    double latest = infinity;
    for (auto next = pairs.begin(); next != pairs.end();) {
      const bool isBeaten = next->second >= latest;
      latest = std::min(latest, next->second);
      next = isBeaten ? pairs.erase(next) : std::next(next);
    }
  }

  /// Adds all messages that begin with part `first`.
  void extend(std::vector<std::set<std::pair<double, double>>> &reached, std::size_t sent,
              std::size_t first, double free, double latest) const {
    double start = free, next = 0;
    std::int64_t bytes = 0;
    std::size_t now = sent;
    for (std::size_t p = first; p < parts.size() && !(sent >> p & 1); ++p) {
      const Part &part = parts[p];
      if (p > first &&
          (part.isFactors || parts[first].isFactors || part.mergeClass != parts[first].mergeClass))
        return;
      bytes += part.bytes;
      start = std::max(start, sync.layers[part.layer].ready);
      next =
          std::max({next, after[part.layer] + missing(sent, part.layer), afterRiders[part.layer]});
      now |= std::size_t{1} << p;
      double seconds = 0;
      if (part.isFactors)
        seconds = sync.layers[part.layer].factorOptions[ways[part.layer].index].seconds;
      else if (bytes <= sync.mergeClasses[part.mergeClass].largestMessage)
        seconds = sync.mergeClasses[part.mergeClass].seconds(bytes);
      else
        return;
      // A gradient is complete when its last part is; charging each part's arrival is the same.
      reached[now].insert({start + seconds, std::max(latest, start + seconds + next)});
    }
  }

  const OrderProblem &problem;
  const Problem &sync;
  const std::vector<Way> &ways;
  std::vector<Part> parts;
  std::vector<double> after, afterRiders;
};

/// Calls `visit` with every combination of ways from layer k on.
template <typename Visit>
void forAllWays(const Problem &problem, std::vector<Way> &ways, std::size_t k, const Visit &visit) {
  if (k == problem.layers.size()) {
    for (std::size_t j = 0; j < k; ++j)
      if (ways[j].kind == Way::Kind::piggyback &&
          ways[*problem.layers[j].carrier].kind != Way::Kind::factors)
        return;
    for (std::size_t l = 0; l < problem.mergeClasses.size(); ++l)
      if (ClassLayout(problem, ways, l).bytes() > problem.mergeClasses[l].capacity)
        return;
    visit();
    return;
  }
  const Layer &layer = problem.layers[k];
  for (std::uint8_t l = 0; l < problem.mergeClasses.size(); ++l)
    if (layer.mergeClasses >> l & 1) {
      ways[k] = {Way::Kind::bucket, l};
      forAllWays(problem, ways, k + 1, visit);
    }
  for (std::uint8_t o = 0; o < layer.factorOptions.size(); ++o) {
    ways[k] = {Way::Kind::factors, o};
    forAllWays(problem, ways, k + 1, visit);
  }
  if (layer.carrier) {
    ways[k] = {Way::Kind::piggyback, 0};
    forAllWays(problem, ways, k + 1, visit);
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
  std::vector<Way> ways(problem.sync.layers.size());
  double best = infinity;
  forAllWays(problem.sync, ways, 0,
             [&] { best = std::min(best, FixedWays(problem, ways).period()); });
  return best;
}

} // namespace syncline::reference
