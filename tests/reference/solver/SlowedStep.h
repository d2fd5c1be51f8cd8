// SlowedStep: a step whose computation messages slow, simulated from event to event. It judges the
// planner's clock in tests and shares no code with it.
#pragma once

#include "passes/problem/Problem.h"

#include <span>

namespace syncline::reference {

using namespace problem;

/// The end of the step in which layers travel by these choices. While a message of T seconds that
/// takes L seconds from computation is under way, the device works at 1 - L/T of its speed, with L
/// by the class of what it computes where the problem tells classes apart.
/// Preconditions: the problem is valid, and solver::choicesAreSound.
double slowedFinish(const Problem &problem, std::span<const Choice> choices);

/// The least slowedFinish of all combinations of choices, whichever option a bucket uses. Time:
/// countChoices(). Precondition: the problem is valid, and some combination is sound.
double leastSlowedFinish(const Problem &problem);

} // namespace syncline::reference
