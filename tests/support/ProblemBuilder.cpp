// From gradients and a cluster to merge classes, factor options and carriers.
#include "tests/support/ProblemBuilder.h"

#include "passes/problem/TreeCost.h"

namespace syncline::problem {

Factors factorsOf(const FactorShape &shape, double operationsPerSecond) {
  const auto count = static_cast<double>(shape.samples) * static_cast<double>(shape.inputs) *
                     static_cast<double>(shape.outputs);
  return {shape.factorBytes(), 2 * count / operationsPerSecond};
}

std::vector<SchemeOption> formulaCollectives(int ranks, const LinkRates &rates) {
  std::vector<SchemeOption> options;
  for (Scheme scheme : allSchemes())
    if (hasFormula(scheme))
      options.push_back({scheme, formulaCost(scheme, ranks, rates),
                         formulaTraffic(scheme, ranks, oneTreeBytes + 1),
                         shortTraffic(scheme, ranks)});
  return options;
}

SchemeOption serverOption(const ServerLayout &layout) {
  return {Scheme::parameterServer, parameterServerCost(layout), parameterServerTraffic(layout)};
}

Problem buildProblem(std::span<const Gradient> gradients, const ClusterSchemes &catalog,
                     double computeFree) {
  Problem problem;
  problem.computeFree = computeFree;
  if (!catalog.collectives.empty())
    problem.mergeClasses.push_back({catalog.collectives, catalog.largestMessage, unlimited});
  if (catalog.servers) {
    if (problem.mergeClasses.empty() || catalog.serverMemory != unlimited)
      problem.mergeClasses.push_back(
          {{*catalog.servers}, catalog.largestMessage, catalog.serverMemory});
    else
      problem.mergeClasses.front().options.push_back(*catalog.servers);
  }
  std::uint32_t everyMergeClass = (1u << problem.mergeClasses.size()) - 1;
  bool offersFactors = catalog.factorGather && catalog.ranks > 1;
  for (const Gradient &gradient : gradients) {
    Layer layer{gradient.bytes, gradient.ready, everyMergeClass, {}, {}};
    if (offersFactors && gradient.factors)
      layer.factorOptions.push_back(
          {Scheme::factors, catalog.factorGather->seconds(gradient.factors->bytes),
           (catalog.ranks - 1) * gradient.factors->reconstruct,
           allGatherTraffic(catalog.ranks) * static_cast<double>(gradient.factors->bytes),
           gradient.factors->bytes});
    if (offersFactors && gradient.carrier && gradients[*gradient.carrier].factors)
      layer.carrier = gradient.carrier;
    problem.layers.push_back(std::move(layer));
  }
  return problem;
}

Problem problemOf(const MergeProblem &merge) {
  Problem problem;
  problem.mergeClasses = {{.options = merge.options}};
  for (const MergeLayer &layer : merge.layers)
    problem.layers.push_back({.bytes = layer.bytes,
                              .ready = layer.ready,
                              .mergeClasses = 1,
                              .factorOptions = {},
                              .carrier = {}});
  problem.computeFree = merge.layers.empty() ? 0 : merge.layers.back().ready;
  return problem;
}

} // namespace syncline::problem
