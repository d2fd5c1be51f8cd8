// A small problem: three gradients, a ring, a tree and servers in one merge class, factors for two.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::explain {

/// Seconds and bytes in round numbers. In backward order: 'weight' (0) with factors, 'bias' (1),
/// its piggyback, and 'conv' (2). A ring takes 1 s a message and 1 s a byte, a tree 0.5 s and
/// 2 s, servers 3 s and 0.5 s.
inline problem::Problem smallProblem() {
  using namespace problem;
  auto line = [](double a, double b) { return std::make_shared<AffineCost>(a, b); };
  Problem problem;
  problem.mergeClasses = {
      {.options = {{.scheme = Scheme::ring, .cost = line(1, 1), .traffic = 3},
                   {.scheme = Scheme::tree, .cost = line(0.5, 2), .traffic = 4},
                   {.scheme = Scheme::parameterServer, .cost = line(3, 0.5), .traffic = 2}}}};
  FactorOption factors{.seconds = 2, .reconstruct = 1.5, .traffic = 12, .factorBytes = 6};
  problem.layers = {
      {.bytes = 20, .ready = 1, .mergeClasses = 1, .factorOptions = {factors}, .carrier = {}},
      {.bytes = 1, .ready = 2, .mergeClasses = 1, .factorOptions = {}, .carrier = 0},
      {.bytes = 4, .ready = 3, .mergeClasses = 1, .factorOptions = {}, .carrier = {}}};
  problem.computeFree = 3;
  return problem;
}

} // namespace syncline::explain
