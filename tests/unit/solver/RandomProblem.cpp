// Random joint problems.
#include "tests/unit/solver/RandomProblem.h"

#include "tests/reference/solver/ExhaustiveSearch.h"

namespace syncline::solver {

namespace {

constexpr Scheme laneSchemes[maxLanes][2] = {{Scheme::ring, Scheme::tree},
                                             {Scheme::parameterServer, Scheme::parameterServer},
                                             {Scheme::hierarchical, Scheme::reduceScatter}};

Lane randomLane(Random &random, std::size_t index, CostKind kind) {
  Lane lane;
  for (SchemeOption &option : randomOptions(random, kind)) {
    std::size_t second = lane.options.empty() ? 0 : 1;
    lane.options.push_back({laneSchemes[index][second], option.cost, random.between(1, 4)});
  }
  return lane;
}

/// About as long as the lanes would take, give or take a factor of four.
SoloOption randomSolo(Random &random, const JointProblem &problem, std::int64_t bytes) {
  double typical = problem.lanes.front().seconds(bytes);
  SoloOption solo;
  solo.seconds = typical * random.between(0.1, 2);
  solo.rebuild = random.below(3) == 0 ? 0 : typical * random.between(0, 0.7);
  solo.traffic = static_cast<double>(bytes) * random.between(0.1, 3);
  return solo;
}

void addLimits(Random &random, JointProblem &problem) {
  std::int64_t total = 0, largest = 1;
  for (const JointLayer &layer : problem.layers) {
    total += layer.bytes;
    largest = std::max(largest, layer.bytes);
  }
  for (Lane &lane : problem.lanes)
    if (random.below(2) == 0)
      lane.largestMessage = largest + random.below(largest + 1);
  std::size_t limited =
      static_cast<std::size_t>(random.below(static_cast<std::int64_t>(problem.lanes.size())));
  problem.lanes[limited].capacity = random.below(total + 1);
}

} // namespace

JointProblem randomJoint(Random &random, const JointMix &mix) {
  JointProblem problem;
  for (std::size_t lane = 0; lane < mix.lanes; ++lane)
    problem.lanes.push_back(randomLane(random, lane, mix.cost));
  std::uint32_t all = (1u << mix.lanes) - 1;
  for (const Layer &layer : randomLayers(random, mix.kind, mix.layers)) {
    JointLayer joint{layer.bytes, layer.ready, all, {}, {}};
    if (random.unit() < mix.soloShare)
      joint.solos.push_back(randomSolo(random, problem, layer.bytes));
    if (random.unit() < mix.onlyOneWay) {
      bool solo = !joint.solos.empty() && random.below(2) == 0;
      joint.lanes =
          solo ? 0
               : 1u << static_cast<unsigned>(random.below(static_cast<std::int64_t>(mix.lanes)));
      if (!solo)
        joint.solos.clear();
    }
    problem.layers.push_back(std::move(joint));
  }
  if (mix.riders)
    for (std::size_t k = 0; k < mix.layers; ++k)
      if (random.below(2) == 0) {
        std::size_t other = random.below(2) == 0 ? k + 1 : k - 1;
        if (other < mix.layers && !problem.layers[other].solos.empty())
          problem.layers[k].carrier = other;
      }
  double last = problem.layers.empty() ? 0 : problem.layers.back().ready;
  problem.computeFree = last + (random.below(2) == 0 ? 0 : random.between(0, 1e-3));
  if (mix.limits)
    addLimits(random, problem);
  return problem;
}

JointProblem randomSmallJoint(std::uint64_t seed, std::size_t mostLayers, std::int64_t mostChoices,
                              bool mayBeOpaque) {
  for (Random random(seed);;) {
    JointMix mix;
    mix.layers = 1 + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(mostLayers)));
    mix.lanes = 1 + static_cast<std::size_t>(random.below(3));
    mix.soloShare = random.between(0, 1);
    mix.onlyOneWay = random.between(0, 1);
    mix.limits = random.below(3) == 0;
    mix.cost = allCostKinds[random.below(8)];
    mix.kind = allLayerKinds[random.below(7)];
    if (mix.cost == CostKind::opaque && !mayBeOpaque)
      continue;
    JointProblem problem = randomJoint(random, mix);
    if (validate(problem).isOk() && countChoices(problem) <= mostChoices)
      return problem;
  }
}

} // namespace syncline::solver
