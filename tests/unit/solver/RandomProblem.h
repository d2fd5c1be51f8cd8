// RandomJoint: joint problems of every kind for the solver's tests, the same on every machine.
#pragma once

#include "passes/problem/Problem.h"
#include "tests/unit/solver/RandomMergeProblem.h"

namespace syncline::solver {

/// What a random problem may contain.
struct JointMix {
  std::size_t layers = 6;
  std::size_t lanes = 2;   ///< 1 to 3
  double soloShare = 0.3;  ///< of layers
  double onlyOneWay = 0.3; ///< share of layers with a single way to travel
  bool riders = true;      ///< some layers next to a solo ride with it, before or after it
  bool limits = false;     ///< largest messages and a capacity that bind
  CostKind cost = CostKind::affine;
  LayerKind kind = LayerKind::spread;
};

/// A valid problem in which, by design, no scheme is far ahead of the others.
JointProblem randomJoint(Random &random, const JointMix &mix);

/// The mix that `seed` stands for, small enough that exhaustiveJoint looks at no more than
/// `mostChoices` combinations in the problem drawn from the same seed.
JointProblem randomSmallJoint(std::uint64_t seed, std::size_t mostLayers, std::int64_t mostChoices,
                              bool mayBeOpaque);

} // namespace syncline::solver
