// OrderBound: a lower bound on the period of any order, cutting, merging and choice of schemes
// (passes/proof/README.md, "The bound of an order").
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::solver {

using namespace problem;

/// The certificate with the greatest bound over all pairs of a least ready time and a least tail,
/// and lines along each class's lower hull; with `known`, the thresholds of a less restricted()
/// problem's certificate are tried too, and fewer others. Without cases. O(h n log n) for h corners
/// of the hull. Precondition: the problem is valid, but for carriers that do not travel by factors.
OrderCertificate orderBound(const OrderProblem &problem, const OrderCertificate *known = nullptr);

/// The best thresholds for the lines and the weight of `known`, without cases; faster than the
/// above. The problem may be an ordered() one.
OrderCertificate quickOrderBound(const OrderProblem &problem, const OrderCertificate &known);

} // namespace syncline::solver
