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
    std::vector<Choice> choices;
  };
  /// The least bound first, each with other ways; one where no ways are told apart.
  std::vector<Case> cases = {};
};

/// Whether a layer's way, or when its factors travel, can be told apart so that a bound may rise.
bool mayProveByCases(const OrderProblem &problem);

/// Splits the case of `certificate` that proves least, again and again: by the layer whose factors
/// save most time on the channel, then by whether some layer's factors travel before or behind
/// another layer's messages. Ends with a bound of at least `enough`, where the case that proves
/// least has neither, or at the limits on cases. The ways of a case are `choices`, but
/// for the layers that can be flipped (OrderWays.h): those that it fixes travel so; the others by
/// factors where the certificate's weight makes that cheaper. Precondition: the certificate has no
/// cases itself.
ProvedCases proveByCases(const OrderProblem &problem, const OrderCertificate &certificate,
                         const std::vector<Choice> &choices, double enough);

} // namespace syncline::solver
