// Reference: every cut, every merge, every order, whole or in halves, and every way to travel,
// tried. It judges the planner of orders in tests and is not used for planning.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::reference {

using namespace problem;

/// The parts into which the grain may cut the layers, all layers together.
std::size_t countParts(const OrderProblem &problem);

/// The shortest period of all solutions, by the true clock. Messages may wait on purpose.
/// Preconditions: the problem is valid, and countParts() is at most 12, since all sets of parts are
/// looked at, for each combination of ways. Where a scheme has halves, they should be at most 6:
/// each part is then in one of four states. Halves travel by the fastest scheme that has them.
double shortestPeriod(const OrderProblem &problem);

} // namespace syncline::reference
