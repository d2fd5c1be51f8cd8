// OrderPlanner: which gradients travel when, in which pieces and by which schemes, where the next
// forward pass waits for each gradient alone (README.md, "The order problem").
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/problem/Rounding.h"

#include <string>

namespace syncline::solver {

using namespace problem;

struct OrderResult {
  OrderSolution solution;
  OrderCertificate certificate;

  double gap() const { return solution.gap(certificate.bound); }
  bool isOptimal() const { return isProved(solution.period, certificate.bound); }
};

/// A solution with a period no longer than that of `inReadyOrder`, and a bound on every solution's.
/// The layers travel by the ways of `inReadyOrder`. Heuristic: list schedules with messages of
/// 1/1024 to all of the bytes, in powers of the square root of two, and with messages as long as
/// periods between the bound and the best period allow. Of equal periods the one with the fewest
/// messages. Deterministic. Preconditions: the problem is valid, and `inReadyOrder` is a solution
/// of problem.sync.
OrderResult planOrder(const OrderProblem &problem, const Solution &inReadyOrder);

/// The solution that sends the same messages in the same order; its readers still wait one by one.
/// Precondition: it solves problem.sync.
OrderSolution orderOf(const OrderProblem &problem, const Solution &inReadyOrder);

} // namespace syncline::solver
