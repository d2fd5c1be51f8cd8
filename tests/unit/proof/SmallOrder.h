// A small order problem and its certificate, which tests spoil.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::proof {

using namespace problem;

/// Three layers of 256, 128 and 64 B, in backward order, a ring of 1 s + 1/64 s/B, and factors for
/// the first layer. The backward pass takes 4 s, the next forward pass 6 s.
inline OrderProblem smallProblem() {
  OrderProblem problem;
  problem.sync.mergeClasses = {
      {.options = {{Scheme::ring, std::make_shared<AffineCost>(1, 1.0 / 64)}},
       .largestMessage = 384,
       .capacity = 448}};
  FactorOption factors;
  factors.seconds = 2;
  factors.reconstruct = 1;
  problem.sync.layers = {{256, 1, 1, {factors}, {}}, {128, 2, 1, {}, {}}, {64, 4, 1, {}, {}}};
  problem.sync.computeFree = 4;
  problem.tail = {1, 2, 5};
  problem.forward = 6;
  return problem;
}

inline OrderCertificate goodCertificate() {
  OrderCertificate certificate;
  certificate.ready = 1;
  certificate.tail = 1;
  certificate.lines[0] = {1, 1.0 / 64};
  // The first layer alone until 6 s, then the others together until 10 s.
  certificate.bound = 11;
  return certificate;
}

inline OrderProblem withoutFactors() {
  OrderProblem problem = smallProblem();
  problem.sync.layers[0].factorOptions.clear();
  return problem;
}

} // namespace syncline::proof
