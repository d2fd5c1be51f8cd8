// From gradients and a cluster to lanes, solos and carriers.
#include "passes/solver/joint/JointBuilder.h"

namespace syncline::solver {

std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates) {
  std::vector<SchemeOption> options;
  for (Scheme scheme : allSchemes())
    if (hasFormula(scheme))
      options.push_back({scheme, std::make_shared<AffineCost>(formulaCost(scheme, ranks, rates)),
                         formulaTraffic(scheme, ranks)});
  return options;
}

SchemeOption serverOption(const ServerLayout &layout) {
  return {Scheme::parameterServer, parameterServerCost(layout), parameterServerTraffic(layout)};
}

JointProblem buildJointProblem(std::span<const Gradient> gradients, const ClusterOffer &offer,
                               double computeFree) {
  JointProblem problem;
  problem.computeFree = computeFree;
  if (!offer.collectives.empty())
    problem.lanes.push_back({offer.collectives, offer.largestMessage, unlimited});
  if (offer.servers) {
    if (problem.lanes.empty() || offer.serverMemory != unlimited)
      problem.lanes.push_back({{*offer.servers}, offer.largestMessage, offer.serverMemory});
    else
      problem.lanes.front().options.push_back(*offer.servers);
  }
  std::uint32_t everyLane = (1u << problem.lanes.size()) - 1;
  bool offersFactors = offer.factorGather && offer.ranks > 1;
  for (const Gradient &gradient : gradients) {
    JointLayer layer{gradient.bytes, gradient.ready, everyLane, {}, {}};
    if (offersFactors && gradient.factors)
      layer.solos.push_back(
          {Scheme::factors, offer.factorGather->seconds(gradient.factors->bytes),
           (offer.ranks - 1) * gradient.factors->rebuild,
           allGatherTraffic(offer.ranks) * static_cast<double>(gradient.factors->bytes),
           gradient.factors->bytes});
    if (offersFactors && gradient.carrier && gradients[*gradient.carrier].factors)
      layer.carrier = gradient.carrier;
    problem.layers.push_back(std::move(layer));
  }
  return problem;
}

} // namespace syncline::solver
