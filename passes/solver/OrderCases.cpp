// Branches on the ways of layers, with the bound without cases for each branch.
#include "passes/solver/OrderCases.h"

#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderWays.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace syncline::solver {

namespace {

/// A problem in which some layers' ways, and then some orders, are fixed, and what it proves.
struct Node {
  OrderProblem problem;
  OrderCertificate certificate; ///< without cases
  std::size_t splits = 0;
  std::optional<std::size_t> other = {}; ///< where orders are told apart
  std::size_t firstCase = 0;             ///< of two nodes; 0 for none
  /// The pairs whose order is fixed.
  std::vector<std::pair<std::size_t, std::size_t>> told = {};
};

/// A layer that must travel by factors, and another one.
struct Pair {
  std::size_t factors = 0, other = 0;
  double bound = 0; ///< seconds, of what the two layers alone prove in both cases
};

/// What the factors of a pair travel before, or behind, at the earliest: two sums.
double boundOf(const OrderProblem &problem, std::size_t factors, std::size_t other) {
  const Layer &one = problem.sync.layers[factors], &two = problem.sync.layers[other];
  return one.leastSeconds() + two.leastSeconds() +
         std::min(one.ready + problem.tailBehind(other), two.ready + problem.tailBehind(factors));
}

class Branching {
public:
  Branching(const OrderProblem &problem, const OrderCertificate &certificate,
            const std::vector<Choice> &choices)
      : problem(problem), choices(choices) {
    nodes.push_back({problem, certificate});
    // A case looks at all layers several times.
    limit = std::clamp<std::size_t>(layerVisits / (problem.tail.size() + 1), 2,
                                    OrderCertificate::maxCases);
  }

  ProvedCases run(double enough) {
    for (std::size_t count = 1; count < limit; ++count) {
      const std::size_t weakest = weakestNode();
      if (nodes[weakest].certificate.bound >= enough || !split(weakest))
        break;
    }
    ProvedCases proved{.certificate = certificateOf(0)};
    for (const Node &node : nodes)
      if (node.firstCase == 0)
        proved.cases.push_back({node.certificate.bound, choicesIn(node)});
    std::ranges::stable_sort(proved.cases, {}, &ProvedCases::Case::bound);
    keepFirstOfEachWays(proved.cases);
    return proved;
  }

private:
  /// Cases that tell apart orders have the same ways.
  static void keepFirstOfEachWays(std::vector<ProvedCases::Case> &cases) {
    std::vector<ProvedCases::Case> kept;
    for (ProvedCases::Case &one : cases)
      if (std::ranges::find(kept, one.choices, &ProvedCases::Case::choices) == kept.end())
        kept.push_back(std::move(one));
    cases = std::move(kept);
  }

  static constexpr std::size_t layerVisits = 20'000, pairVisits = 1'000, mostPairs = 12,
                               orderVisits = 1'500;

  std::size_t weakestNode() const {
    const auto bound = [](const Node &node) {
      return node.firstCase == 0 ? node.certificate.bound : std::numeric_limits<double>::infinity();
    };
    return static_cast<std::size_t>(std::ranges::min_element(nodes, {}, bound) - nodes.begin());
  }

  bool split(std::size_t which) {
    const std::optional<std::size_t> layer = mostSaving(nodes[which].problem.sync);
    if (!layer)
      return splitOrder(which);
    nodes[which].splits = *layer;
    nodes[which].firstCase = nodes.size();
    for (bool byFactors : {true, false}) {
      Node next{restricted(nodes[which].problem, *layer, byFactors), {}};
      next.certificate = orderBound(next.problem, &nodes[which].certificate);
      nodes.push_back(std::move(next));
    }
    return true;
  }

  /// Pairs that may prove most, by what the two layers alone do. In half of them, at most, both
  /// layers must travel by factors.
  static std::vector<Pair> pairsOf(const OrderProblem &problem) {
    const std::vector<Layer> &layers = problem.sync.layers;
    const std::size_t most = std::min(mostPairs, pairVisits / (layers.size() + 1));
    std::vector<Pair> pairs, ofFactors;
    if (most < 2)
      return pairs;
    std::vector<std::size_t> longest; // of the layers that must travel by factors
    for (std::size_t k = 0; k < layers.size(); ++k)
      if (layers[k].mergeClasses == 0 && !layers[k].factorOptions.empty())
        longest.push_back(k);
    std::ranges::stable_sort(longest, std::greater(),
                             [&](std::size_t k) { return layers[k].leastSeconds(); });
    longest.resize(std::min(longest.size(), most));
    for (std::size_t factors : longest)
      for (std::size_t other = 0; other < layers.size(); ++other) {
        const bool areBoth = layers[other].mergeClasses == 0;
        if (canTellOrder(problem, factors, other) && (!areBoth || factors < other))
          (areBoth ? ofFactors : pairs)
              .push_back({factors, other, boundOf(problem, factors, other)});
      }
    for (std::vector<Pair> *list : {&ofFactors, &pairs}) {
      std::ranges::stable_sort(*list, std::greater(), &Pair::bound);
      list->resize(std::min(list->size(), most / 2));
    }
    pairs.insert(pairs.end(), ofFactors.begin(), ofFactors.end());
    return pairs;
  }

  /// Splits by the pair whose weaker case, then whose stronger case, proves most.
  bool splitOrder(std::size_t which) {
    if (orderSplits++ > orderVisits / (problem.tail.size() + 1))
      return false;
    std::vector<Node> best;
    std::pair<double, double> most{0, 0};
    for (const Pair &pair : pairsOf(nodes[which].problem)) {
      if (std::ranges::find(nodes[which].told, std::pair(pair.factors, pair.other)) !=
          nodes[which].told.end())
        continue;
      std::vector<Node> both;
      for (const auto &[first, second] :
           {std::pair(pair.factors, pair.other), std::pair(pair.other, pair.factors)}) {
        Node next{ordered(nodes[which].problem, first, second), {}};
        next.certificate = quickOrderBound(next.problem, nodes[which].certificate);
        next.told = nodes[which].told;
        next.told.emplace_back(pair.factors, pair.other);
        both.push_back(std::move(next));
      }
      const auto [low, high] = std::minmax(both[0].certificate.bound, both[1].certificate.bound);
      if (std::pair(low, high) <= most)
        continue;
      most = {low, high};
      best = std::move(both);
      nodes[which].splits = pair.factors;
      nodes[which].other = pair.other;
    }
    if (most.second <= nodes[which].certificate.bound)
      return false;
    nodes[which].firstCase = nodes.size();
    std::ranges::move(best, std::back_inserter(nodes));
    return true;
  }

  OrderCertificate certificateOf(std::size_t which) const {
    const Node &node = nodes[which];
    if (node.firstCase == 0)
      return node.certificate;
    OrderCertificate both{.splits = node.splits, .other = node.other};
    for (std::size_t i : {node.firstCase, node.firstCase + 1})
      both.cases.push_back(certificateOf(i));
    both.bound = std::min(both.cases[0].bound, both.cases[1].bound);
    // A split that proves nothing is left out.
    return both.bound > node.certificate.bound ? both : node.certificate;
  }

  /// Whether layer k travels by factors in the node's case.
  bool goesByFactors(const Node &node, std::size_t k) const {
    const Layer &layer = node.problem.sync.layers[k];
    if (layer.mergeClasses == 0 || layer.factorOptions.empty())
      return layer.mergeClasses == 0;
    const OrderCertificate &certificate = node.certificate;
    const double price = (1 - certificate.channelWeight) / certificate.channelWeight;
    const FactorOption &factors = layer.fastestFactors();
    double inBucket = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
      if (layer.mergeClasses >> l & 1)
        inBucket = std::min(inBucket,
                            certificate.lines[l].secondsPerByte * static_cast<double>(layer.bytes));
    return factors.seconds + price * (factors.reconstruct + factors.lost) < inBucket;
  }

  std::vector<Choice> choicesIn(const Node &node) const {
    std::vector<Choice> next = choices;
    for (std::size_t k : flippable(problem.sync))
      if ((next[k].kind == Choice::Kind::factors) != goesByFactors(node, k))
        if (auto other = flipped(problem.sync, next, k))
          next = std::move(*other);
    return next;
  }

  const OrderProblem &problem;
  const std::vector<Choice> &choices;
  std::vector<Node> nodes;
  std::size_t limit, orderSplits = 0;
};

} // namespace

bool mayProveByCases(const OrderProblem &problem) {
  return mostSaving(problem.sync) ||
         std::ranges::any_of(problem.sync.layers,
                             [](const Layer &layer) { return layer.mergeClasses == 0; });
}

ProvedCases proveByCases(const OrderProblem &problem, const OrderCertificate &certificate,
                         const std::vector<Choice> &choices, double enough) {
  return Branching(problem, certificate, choices).run(enough);
}

} // namespace syncline::solver
