// OrderCases: a bound on the period of any order, layer by layer by factors and in a bucket
// (passes/proof/README.md, "The bound of an order").
#pragma once

#include "passes/problem/OrderProblem.h"

#include <vector>

namespace syncline::solver {

using namespace problem;

/// A certificate, and ways for all layers in each of its cases.
struct ProvedCases {
  OrderCertificate certificate;
  struct Case {
    double bound = 0; ///< seconds
    std::vector<Way> ways;
  };
  std::vector<Case> cases = {}; ///< the least bound first; one where nothing is told apart
};

/// Splits the case of `certificate` that proves least, again and again, by the layer whose factors
/// save most time on the channel. Ends with a bound of at least `enough`, where the case that
/// proves least has no such layer, or at the limits on cases. The ways of a case are `ways`, but
/// for the layers that can be flipped (OrderWays.h): those that it fixes travel so; the others by
/// factors where the certificate's weight makes that cheaper. Precondition: the certificate has no
/// cases itself.
ProvedCases proveByCases(const OrderProblem &problem, const OrderCertificate &certificate,
                         const std::vector<Way> &ways, double enough);

} // namespace syncline::solver
