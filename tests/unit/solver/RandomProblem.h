// RandomProblem: problems of every kind for the solver's tests, the same on every machine.
#pragma once

#include "passes/problem/Problem.h"
#include "tests/unit/solver/RandomMergeProblem.h"

namespace syncline::solver {

using namespace problem;

/// What a random problem may contain.
struct ProblemMix {
  std::size_t layers = 6;
  std::size_t mergeClasses = 2; ///< 1 to 3
  double factorShare = 0.3;     ///< of layers
  double onlyOneWay = 0.3;      ///< share of layers with a single way to travel
  bool piggybacks = true;       ///< some neighbours of layers with factors are their piggybacks
  bool limits = false;          ///< largest messages and a capacity that bind
  CostKind cost = CostKind::affine;
  LayerKind kind = LayerKind::spread;
};

/// A valid problem in which, by design, no scheme is far ahead of the others.
Problem randomProblem(Random &random, const ProblemMix &mix);

/// The mix that `seed` stands for, small enough that exhaustiveSolution looks at no more than
/// `mostChoices` combinations in the problem drawn from the same seed.
Problem randomSmallProblem(std::uint64_t seed, std::size_t maxLayers, std::int64_t maxChoices);

/// Merging alone of at most `mostLayers` layers, by one or more schemes.
Problem randomMerging(Random &random, std::size_t mostLayers);

/// Lets every message take from computation, by factors of 1 to 4, each scheme by its own or all by
/// the same.
void addLosses(Random &random, Problem &problem);

/// Lets them take other parts from products and from memory-bound operations, which run in turns,
/// than from all alike, by factors of 1 to 4.
void addClasses(Random &random, Problem &problem);

} // namespace syncline::solver
