// A small problem: three gradients, a ring, a tree and servers in one merge class, factors for two.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::explain {

/// Seconds and bytes in round numbers. In backward order: 'weight' (0) with factors, 'bias' (1),
/// which rides with it, and 'conv' (2). A ring takes 1 s a message and 1 s a byte, a tree 0.5 s and
/// 2 s, servers 3 s and 0.5 s.
inline problem::Problem smallProblem() {
  using namespace problem;
  auto line = [](double a, double b) { return std::make_shared<AffineCost>(a, b); };
  Problem problem;
  problem.mergeClasses = {{{{Scheme::ring, line(1, 1), 3},
                            {Scheme::tree, line(0.5, 2), 4},
                            {Scheme::parameterServer, line(3, 0.5), 2}}}};
  FactorOption factors{Scheme::factors, 2, 1.5, 12, 6};
  problem.layers = {{20, 1, 1, {factors}, {}}, {1, 2, 1, {}, 0}, {4, 3, 1, {}, {}}};
  problem.computeFree = 3;
  return problem;
}

} // namespace syncline::explain
