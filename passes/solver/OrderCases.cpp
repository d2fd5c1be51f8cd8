// Branches on the ways of layers, with the bound without cases for each branch.
#include "passes/solver/OrderCases.h"

#include "passes/solver/OrderBound.h"
#include "passes/solver/OrderWays.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace syncline::solver {

namespace {

/// A problem in which some layers' ways are fixed, and what it proves.
struct Node {
  OrderProblem problem;
  OrderCertificate certificate; ///< without cases
  std::size_t splits = 0;
  std::size_t firstCase = 0; ///< of two nodes; 0 for none
};

class Branching {
public:
  Branching(const OrderProblem &problem, const OrderCertificate &certificate,
            const std::vector<Way> &ways)
      : problem(problem), ways(ways) {
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
        proved.cases.push_back({node.certificate.bound, waysIn(node)});
    std::ranges::stable_sort(proved.cases, {}, &ProvedCases::Case::bound);
    return proved;
  }

private:
  static constexpr std::size_t layerVisits = 20'000;

  std::size_t weakestNode() const {
    std::size_t weakest = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].firstCase == 0 &&
          (weakest == nodes.size() ||
           nodes[i].certificate.bound < nodes[weakest].certificate.bound))
        weakest = i;
    return weakest;
  }

  bool split(std::size_t which) {
    const std::optional<std::size_t> layer = mostSaving(nodes[which].problem.sync);
    if (!layer)
      return false;
    nodes[which].splits = *layer;
    nodes[which].firstCase = nodes.size();
    for (bool byFactors : {true, false}) {
      Node next{restricted(nodes[which].problem, *layer, byFactors), {}};
      next.certificate = orderBound(next.problem, &nodes[which].certificate);
      nodes.push_back(std::move(next));
    }
    return true;
  }

  OrderCertificate certificateOf(std::size_t which) const {
    const Node &node = nodes[which];
    if (node.firstCase == 0)
      return node.certificate;
    OrderCertificate both{.splits = node.splits};
    for (std::size_t i : {node.firstCase, node.firstCase + 1})
      both.cases.push_back(certificateOf(i));
    both.bound = std::min(both.cases[0].bound, both.cases[1].bound);
    return both;
  }

  /// Whether layer k travels by factors in the node's case.
  bool goesByFactors(const Node &node, std::size_t k) const {
    const Layer &layer = node.problem.sync.layers[k];
    if (layer.mergeClasses == 0 || layer.factorOptions.empty())
      return layer.mergeClasses == 0;
    const OrderCertificate &certificate = node.certificate;
    const double price = (1 - certificate.channelWeight) / certificate.channelWeight;
    const FactorOption &factors = fastestFactors(layer);
    double inBucket = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < problem.sync.mergeClasses.size(); ++l)
      if (layer.mergeClasses >> l & 1)
        inBucket = std::min(inBucket,
                            certificate.lines[l].secondsPerByte * static_cast<double>(layer.bytes));
    return factors.seconds + price * factors.reconstruct < inBucket;
  }

  std::vector<Way> waysIn(const Node &node) const {
    std::vector<Way> next = ways;
    for (std::size_t k : flippable(problem.sync))
      if ((next[k].kind == Way::Kind::factors) != goesByFactors(node, k))
        if (auto other = flipped(problem.sync, next, k))
          next = std::move(*other);
    return next;
  }

  const OrderProblem &problem;
  const std::vector<Way> &ways;
  std::vector<Node> nodes;
  std::size_t limit;
};

} // namespace

ProvedCases proveByCases(const OrderProblem &problem, const OrderCertificate &certificate,
                         const std::vector<Way> &ways, double enough) {
  return Branching(problem, certificate, ways).run(enough);
}

} // namespace syncline::solver
