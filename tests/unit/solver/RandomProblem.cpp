// Random problems.
#include "tests/unit/solver/RandomProblem.h"

#include "passes/problem/Interference.h"
#include "tests/reference/solver/ExhaustiveSearch.h"

namespace syncline::solver {

using namespace problem;
using namespace reference;

namespace {

constexpr Scheme mergeClassSchemes[maxMergeClasses][2] = {
    {Scheme::ring, Scheme::tree},
    {Scheme::parameterServer, Scheme::parameterServer},
    {Scheme::hierarchical, Scheme::reduceScatter}};

MergeClass randomMergeClass(Random &random, std::size_t index, CostKind kind) {
  MergeClass mergeClass;
  for (SchemeOption &option : randomOptions(random, kind)) {
    std::size_t second = mergeClass.options.empty() ? 0 : 1;
    mergeClass.options.push_back(
        {mergeClassSchemes[index][second], option.cost, random.between(1, 4)});
  }
  return mergeClass;
}

/// About as long as the merge classes would take, give or take a factor of four.
FactorOption randomFactorOption(Random &random, const Problem &problem, std::int64_t bytes) {
  double typical = problem.mergeClasses.front().seconds(bytes);
  FactorOption factorOption;
  factorOption.seconds = typical * random.between(0.1, 2);
  factorOption.reconstruct = random.below(3) == 0 ? 0 : typical * random.between(0, 0.7);
  factorOption.traffic = static_cast<double>(bytes) * random.between(0.1, 3);
  return factorOption;
}

void addLimits(Random &random, Problem &problem) {
  std::int64_t total = 0, largest = 1;
  for (const Layer &layer : problem.layers) {
    total += layer.bytes;
    largest = std::max(largest, layer.bytes);
  }
  for (MergeClass &mergeClass : problem.mergeClasses)
    if (random.below(2) == 0)
      mergeClass.largestMessage = largest + random.below(largest + 1);
  std::size_t limited = static_cast<std::size_t>(
      random.below(static_cast<std::int64_t>(problem.mergeClasses.size())));
  problem.mergeClasses[limited].capacity = random.below(total + 1);
}

} // namespace

Problem randomProblem(Random &random, const ProblemMix &mix) {
  Problem problem;
  for (std::size_t mergeClass = 0; mergeClass < mix.mergeClasses; ++mergeClass)
    problem.mergeClasses.push_back(randomMergeClass(random, mergeClass, mix.cost));
  std::uint32_t all = (1u << mix.mergeClasses) - 1;
  for (const MergeLayer &layer : randomLayers(random, mix.kind, mix.layers)) {
    Layer joint{.bytes = layer.bytes,
                .ready = layer.ready,
                .mergeClasses = all,
                .factorOptions = {},
                .carrier = {}};
    if (random.unit() < mix.factorShare)
      joint.factorOptions.push_back(randomFactorOption(random, problem, layer.bytes));
    if (random.unit() < mix.onlyOneWay) {
      bool factorOption = !joint.factorOptions.empty() && random.below(2) == 0;
      joint.mergeClasses = factorOption ? 0
                                        : 1u << static_cast<unsigned>(random.below(
                                              static_cast<std::int64_t>(mix.mergeClasses)));
      if (!factorOption)
        joint.factorOptions.clear();
    }
    problem.layers.push_back(std::move(joint));
  }
  if (mix.piggybacks)
    for (std::size_t k = 0; k < mix.layers; ++k)
      if (random.below(2) == 0) {
        std::size_t other = random.below(2) == 0 ? k + 1 : k - 1;
        if (other < mix.layers && !problem.layers[other].factorOptions.empty())
          problem.layers[k].carrier = other;
      }
  double last = problem.layers.empty() ? 0 : problem.layers.back().ready;
  problem.computeFree = last + (random.below(2) == 0 ? 0 : random.between(0, 1e-3));
  if (mix.limits)
    addLimits(random, problem);
  return problem;
}

Problem randomSmallProblem(std::uint64_t seed, std::size_t maxLayers, std::int64_t maxChoices) {
  for (Random random(seed);;) {
    ProblemMix mix;
    mix.layers = 1 + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(maxLayers)));
    mix.mergeClasses = 1 + static_cast<std::size_t>(random.below(3));
    mix.factorShare = random.between(0, 1);
    mix.onlyOneWay = random.between(0, 1);
    mix.limits = random.below(3) == 0;
    mix.cost = allCostKinds[random.below(8)];
    mix.kind = allLayerKinds[random.below(7)];
    Problem problem = randomProblem(random, mix);
    if (validate(problem).isOk() && countChoices(problem) <= maxChoices)
      return problem;
  }
}

Problem randomMerging(Random &random, std::size_t mostLayers) {
  ProblemMix mix{.layers = static_cast<std::size_t>(1 + random.below(mostLayers)),
                 .mergeClasses = 1,
                 .factorShare = 0,
                 .onlyOneWay = 0,
                 .piggybacks = false};
  mix.cost = allCostKinds[random.below(std::size(allCostKinds))];
  mix.kind = allLayerKinds[random.below(std::size(allLayerKinds))];
  return randomProblem(random, mix);
}

void addLosses(Random &random, Problem &problem) {
  const bool isUniform = random.below(2) == 0;
  const Interference all{random.between(1, 2), random.between(1, 3)};
  const auto one = [&] {
    return isUniform ? all : Interference{random.between(1, 2), random.between(1, 4)};
  };
  for (MergeClass &mergeClass : problem.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      option.lost = lostCost(*option.cost, one());
  for (Layer &layer : problem.layers)
    for (FactorOption &option : layer.factorOptions)
      option.lost = one().lost(option.seconds * random.unit(), option.seconds);
}

void addClasses(Random &random, Problem &problem) {
  const auto one = [&] { return Interference{random.between(1, 4), random.between(1, 2)}; };
  const auto drawn = [&] {
    const Interference products = one(), memory = one();
    return SchemeInterference{{(products.beside + memory.beside) / 2, products.latency},
                              ByClass<Interference>{{products, memory}}};
  };
  for (MergeClass &mergeClass : problem.mergeClasses)
    for (SchemeOption &option : mergeClass.options)
      setLost(option, drawn());
  for (Layer &layer : problem.layers)
    for (FactorOption &option : layer.factorOptions)
      setLost(option, drawn(), option.seconds * random.unit());
  problem.memoryBound.emplace();
  const double longest = problem.computeFree / random.between(2, 20);
  for (double at = 0; at < problem.computeFree;) {
    const double begin = at + random.between(0, longest);
    at = begin + random.between(longest / 100, longest);
    if (begin < problem.computeFree)
      problem.memoryBound->push_back({begin, std::min(at, problem.computeFree)});
  }
}

} // namespace syncline::solver
