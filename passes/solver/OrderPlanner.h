// OrderPlanner: which gradients travel when, in which messages and by which schemes, where the next
// forward pass waits for each gradient alone (README.md, "The order problem").
#pragma once

#include "passes/problem/OrderProblem.h"
#include "passes/problem/Rounding.h"
#include "passes/solver/Planner.h"

#include <string>

namespace syncline::solver {

using namespace problem;

struct OrderResult {
  OrderSolution solution;
  OrderCertificate certificate;

  /// How much longer than the bound the period is, relative to the bound.
  double gap() const { return certificate.bound > 0 ? solution.period / certificate.bound - 1 : 0; }
  bool isOptimal() const { return isProved(solution.period, certificate.bound); }
};

/// A solution with a period no longer than that of `inReadyOrder`, and a bound on every solution's.
/// The layers travel by the ways of `inReadyOrder`, but those that may travel by factors do so
/// where that was found to be better (OrderWays.h). Heuristic: list schedules with messages of
/// 1/1024 to all of the bytes, in powers of the square root of two, and with messages as long as
/// periods between the bound and the best period allow, whole and in halves, and a random search
/// around the best ones. There every message counts as 1e-5 of the period more. Then the orders of
/// other systems, where they are shorter by more than 1e-5 (solver/README.md). Deterministic: the
/// seeds are fixed. Preconditions: the problem is valid, and
/// `inReadyOrder` solves its sync problem. Without `inHalves` every bucket travels whole.
OrderResult planOrder(const OrderProblem &problem, const Solution &inReadyOrder,
                      bool inHalves = true);

/// What a planner gives for an order problem: as above for "optimal", from its solution in ready
/// order or the best one of a rule, whichever has the shorter period; the same search without
/// factors and rows for "sums", and where messages take longer for "inflated:P" (Inflation.h); a
/// rule's own order; for every other planner its own messages in their order. Returns badInput as
/// Planner::plan() does. Precondition: the problem is valid.
Result<OrderResult> planOrder(const OrderProblem &problem, const Planner &planner);

/// The order alone that the planner's search gives, without a bound. Precondition: the problem is
/// valid, and the planner is a search that gathers as "optimal" does.
Result<OrderSolution> searchOrder(const OrderProblem &problem, const Planner &planner);

/// The solution that sends the same messages in the same order; its readers still wait one by one.
/// Precondition: it solves problem.sync.
OrderSolution orderOf(const OrderProblem &problem, const Solution &inReadyOrder);

} // namespace syncline::solver
