// From gradients and a cluster to lanes, solos and carriers.
#include "tests/support/ProblemBuilder.h"

namespace syncline::solver {

Factors factorsOf(const FactorShape &shape, double operationsPerSecond) {
  const auto count = static_cast<double>(shape.samples) * static_cast<double>(shape.inputs) *
                     static_cast<double>(shape.outputs);
  return {shape.factorBytes(), 2 * count / operationsPerSecond};
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
