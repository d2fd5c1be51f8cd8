// From gradients and a cluster to lanes, solos and carriers.
#include "passes/solver/joint/JointBuilder.h"

namespace syncline::solver {

namespace {

LaneOption collective(SyncScheme scheme, const AffineCost &cost, double traffic) {
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

std::vector<LaneOption> formulaCollectives(int ranks, const LinkRates &rates) {
  double logarithmic = 2.0 * rounds(ranks), optimal = ringTraffic(ranks);
  return {
      collective(SyncScheme::ring, formulaCost(Scheme::ring, ranks, rates), optimal),
      collective(SyncScheme::recursiveDoubling,
                 formulaCost(Scheme::recursiveDoubling, ranks, rates), logarithmic),
      collective(SyncScheme::halvingDoubling, formulaCost(Scheme::halvingDoubling, ranks, rates),
                 optimal),
      collective(SyncScheme::tree, formulaCost(Scheme::tree, ranks, rates), logarithmic),
      collective(SyncScheme::reduceScatter, reduceScatterCost(ranks, rates), optimal),
  };
}

JointProblem buildJointProblem(std::span<const Gradient> gradients, const ClusterOffer &offer,
                               double computeFree) {
  JointProblem problem;
  problem.computeFree = computeFree;
  if (!offer.collectives.empty())
    problem.lanes.push_back({offer.collectives, offer.largestMessage, unlimited});
  if (offer.servers) {
    LaneOption option{SyncScheme::parameterServer, parameterServerCost(*offer.servers),
                      parameterServerTraffic(*offer.servers)};
    if (problem.lanes.empty() || offer.serverMemory != unlimited)
      problem.lanes.push_back({{std::move(option)}, offer.largestMessage, offer.serverMemory});
    else
      problem.lanes.front().options.push_back(std::move(option));
  }
  std::uint32_t everyLane = (1u << problem.lanes.size()) - 1;
  bool offersFactors = offer.factorLinks && offer.ranks > 1;
  for (const Gradient &gradient : gradients) {
    JointLayer layer{gradient.bytes, gradient.ready, everyLane, {}, {}};
    if (offersFactors && gradient.factors)
      layer.solos.push_back(
          {SyncScheme::factors, factorsSeconds(*gradient.factors, offer.ranks, *offer.factorLinks),
           rebuildSeconds(*gradient.factors, offer.ranks, offer.operationsPerSecond),
           factorsTraffic(*gradient.factors, offer.ranks)});
    if (offersFactors && gradient.carrier && gradients[*gradient.carrier].factors)
      layer.carrier = gradient.carrier;
    problem.layers.push_back(std::move(layer));
  }
  return problem;
}

} // namespace syncline::solver
