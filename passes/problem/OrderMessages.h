// OrderMessages: an order solution as a list of messages, the form in which plans hold solutions.
#pragma once

#include "passes/problem/OrderProblem.h"

namespace syncline::problem {

/// The solution's pieces as messages, in issue order. Two halves are one message, at the place of
/// the first. A message lists its layers in descending
/// order, as they lie in memory, and says which bytes at its two ends travel elsewhere. Times count
/// from the start of the backward pass; `finish` is the period. Precondition: the solution is valid
/// for the problem (proof::checkOrder).
Solution messagesOf(const OrderProblem &problem, const OrderSolution &solution);

/// How the layers travel in a solution of a sync problem or of an order problem. Layers that the
/// problem does not have are left out.
std::vector<Choice> layerChoices(const Problem &problem, const Solution &solution);

/// The order that the messages claim, which a checker has yet to judge: messages that do not list
/// what they carry become pieces that do not exist.
OrderSolution orderFrom(const OrderProblem &problem, const Solution &messages);

} // namespace syncline::problem
