// Problems whose messages take longer than they do. Their plans have slack, which steps need in
// which a rank is late.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::solver {

using namespace problem;

/// The problem in which every message, by every scheme, takes so much longer, as a part of its time
/// (0.1: 10 %). Numbers of classes and options stay, so that its solutions' choices are choices for
/// `problem`. Precondition: the problem is valid; inflation >= 0.
Problem inflated(const Problem &problem, double inflation);
OrderProblem inflated(const OrderProblem &problem, double inflation);

} // namespace syncline::solver
