// IssueOrder: turns a timeline of operations and a solution's messages into a rank's order of work.
#pragma once

#include "passes/problem/Problem.h"
#include "passes/simulate/Scenario.h"

#include <string>
#include <vector>

namespace syncline::simulate {

/// The time of all updates.
struct Updates {
  double seconds = 0; ///< of all updates together
  /// The relative time of each gradient's update; empty: in proportion to bytes.
  std::vector<double> weights = {};
};

/// Adds the messages of `decisions` to operations of the forward and backward pass. A message is
/// issued once the operations that its last member needs are over, by the problem's ready times,
/// and after the messages before it on its channel. After the backward pass follow waits,
/// reconstruction and updates in the messages' order; updates share the time `updates` by weight.
/// Messages get names, schemes and bytes, but no costs.
///
/// With `reading`, the decisions are those of an order. Wait, reconstruction and updates of a
/// message then stand in the forward pass, where it first reads one of the message's gradients: so
/// many seconds after its beginning. Preconditions: the decisions are a solution of the problem,
/// and `operations` come from operationsOf() with the same `reading`.
Scenario issueMessages(std::vector<Operation> operations, const problem::Problem &problem,
                       const problem::Solution &decisions, const std::vector<std::string> &names,
                       const Updates &updates, const std::vector<double> &reading = {});

/// Moves reconstruction as a program does it: in the backward pass a rank computes no gradient by
/// factors; it computes its own share with the other ranks' shares after the message. Precondition:
/// `scenario` comes from issueMessages with the operationsOf this problem, for `ranks` ranks.
void moveOwnShares(Scenario &scenario, const problem::Problem &problem,
                   const problem::Solution &decisions, int ranks);

/// When each of the first `count` messages is issued, in seconds of the backward pass's computation
/// before it.
std::vector<double> issueTimes(const Scenario &scenario, std::size_t count);

/// The scenario with its first messages issued at other times, which are as issueTimes() gives
/// them: each at the first end of an operation of the backward pass that is no earlier, in the
/// order of the times. Precondition: these messages are issued in the backward pass.
Scenario issuedAt(Scenario scenario, const std::vector<double> &times);

/// The scheme by which the runtime sums the loss (Trainer::openChannels): that of channel 0's first
/// message which is an all-reduce among the workers, else a ring.
Scheme lossScheme(const Scenario &scenario, bool hasDedicatedServers);

/// Adds the message that sums the loss. A rank hands it to channel 0 at the end of a step and waits
/// for it at the end of the next one. In a scenario it stands at the beginning of the step in which
/// it travels. Precondition: the scenario has no such message yet.
void addLoss(Scenario &scenario, Scheme scheme);

/// Adds, behind all others, the operation that stands for the `seconds` of a step beside its
/// operations; none for 0. Precondition: the scenario has no such operation yet.
void addOverhead(Scenario &scenario, double seconds);

/// One operation for the forward pass, and one for each interval of the backward pass between ready
/// times, named after the gradient that it completes. With `reading` the forward pass is cut at
/// these times, and each part is named after the gradient that it reads first.
std::vector<Operation> operationsOf(const problem::Problem &problem, double forwardEnd,
                                    const std::vector<std::string> &names,
                                    const std::vector<double> &reading = {});

/// A short name for gradients: "fc.weight", "conv1.weight .. bn1.bias (3)".
std::string summary(const std::vector<std::string> &members);

} // namespace syncline::simulate
