// From gradients and a cluster to lanes, solos and carriers.
#include "passes/solver/joint/JointBuilder.h"

namespace syncline::solver {

namespace {

SchemeOption collective(Scheme scheme, const AffineCost &cost, double traffic) {
  return {scheme, std::make_shared<AffineCost>(cost), traffic};
}

/// ceil(log2(ranks)) rounds, as formulaCost counts them.
int rounds(int ranks) {
  int count = 0;
  while ((1 << count) < ranks)
    ++count;
  return count;
}

} // namespace

std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates) {
  double logarithmic = 2.0 * rounds(ranks), optimal = ringTraffic(ranks);
  return {
      collective(Scheme::ring, formulaCost(Scheme::ring, ranks, rates), optimal),
      collective(Scheme::recursiveDoubling, formulaCost(Scheme::recursiveDoubling, ranks, rates),
                 logarithmic),
      collective(Scheme::halvingDoubling, formulaCost(Scheme::halvingDoubling, ranks, rates),
                 optimal),
      collective(Scheme::tree, formulaCost(Scheme::tree, ranks, rates), logarithmic),
      collective(Scheme::reduceScatter, reduceScatterCost(ranks, rates), optimal),
  };
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
