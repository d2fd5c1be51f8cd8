// IssueOrder: from a timeline of operations and a plan's messages to what a rank does, in order.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/simulate/Scenario.h"

#include <string>
#include <vector>

namespace syncline::simulate {

/// What all updates take.
struct Updates {
  double seconds = 0; ///< in all
  /// By gradient, what its own update takes in proportion to the others'; empty: by bytes.
  std::vector<double> weights = {};
};

/// Adds the messages of `decisions` to operations of the forward and backward pass: each is issued
/// once the operations that its last member needs are over, as the problem's ready times say, and
/// after the messages before it. Behind the backward pass follow waits, reconstruction and updates
/// in the messages' order, `updates` in all, shared out by weight. Messages get names, schemes,
/// bytes, not costs. Precondition: the decisions are a plan of the problem.
Scenario issueMessages(std::vector<Operation> operations, const problem::Problem &problem,
                       const problem::Solution &decisions, const std::vector<std::string> &names,
                       const Updates &updates);

/// As a program does it: of a gradient by factors a rank computes nothing in the backward pass, and
/// its own share with the others' behind the message. `scenario` is what issueMessages made of
/// operationsOf the same problem, for so many ranks.
void moveOwnShares(Scenario &scenario, const problem::Problem &problem,
                   const problem::Solution &decisions, int ranks);

/// One operation for the forward pass, and one for each stretch of the backward pass between ready
/// times, named for the gradient that it completes.
std::vector<Operation> operationsOf(const problem::Problem &problem, double forwardEnd,
                                    const std::vector<std::string> &names);

/// "fc.weight", "conv1.weight .. bn1.bias (3)".
std::string summary(const std::vector<std::string> &members);

} // namespace syncline::simulate
