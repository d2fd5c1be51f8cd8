// Problems for steps of several batches. Messages that gather what each rank has computed, factors
// and an embedding's rows, travel in each micro-batch of such a step, sums in the last one only.
#pragma once

#include "passes/problem/Problem.h"

namespace syncline::solver {

using namespace problem;

/// The problem in which each layer that a merge class takes has no factor option, so that layers
/// piggyback only on those that have no other way. Numbers of merge classes and of options stay, so
/// that its solutions are solutions of `problem`. Returns badInput where some layer then has no way
/// to travel. Precondition: the problem is valid.
Result<Problem> withoutGathering(const Problem &problem);

/// The problem in which each factor option takes the channel, and the device, so many times as
/// long. That is too much where a micro-batch hides its own messages, so it serves to choose, not
/// to predict. Its solutions' choices are choices for `problem`. Precondition: as above.
Problem withDearGathering(const Problem &problem, double times);

} // namespace syncline::solver
