// Validates scenarios.
#include "passes/simulate/Scenario.h"

#include <cmath>

namespace syncline::simulate {

const problem::LinkRates &Machines::networkOf(int node) const {
  auto own = nodeNetwork.find(node);
  return own == nodeNetwork.end() ? *network : own->second;
}

namespace {

Status refuse(const std::string &what) { return Status::badInput("scenario: " + what); }

bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

Status checkMachines(const Machines &machines) {
  if (machines.ranks < 1 || machines.devicesPerNode < 1 || machines.cardsPerNode < 1)
    return refuse("expected at least one rank, device and card");
  if (machines.servers < 0 || (!machines.dedicated && machines.servers > machines.ranks))
    return refuse("expected at most " + std::to_string(machines.ranks) +
                  " servers beside ranks, got " + std::to_string(machines.servers));
  if (machines.serverPiece < 1)
    return refuse("expected pieces of at least one byte");
  if (!machines.slowdown.empty() &&
      machines.slowdown.size() != static_cast<std::size_t>(machines.ranks))
    return refuse("expected a slowdown for each of " + std::to_string(machines.ranks) +
                  " ranks, got " + std::to_string(machines.slowdown.size()));
  if (!machines.share.empty() && machines.share.size() != static_cast<std::size_t>(machines.ranks))
    return refuse("expected a share of the samples for each of " + std::to_string(machines.ranks) +
                  " ranks, got " + std::to_string(machines.share.size()));
  for (double share : machines.share)
    if (!std::isfinite(share) || share < 0)
      return refuse("expected shares of the samples of zero up, got " + std::to_string(share));
  if (!std::isfinite(machines.interference) || machines.interference < 1)
    return refuse("expected an interference of at least 1, got " +
                  std::to_string(machines.interference));
  for (double slowdown : machines.slowdown)
    if (!std::isfinite(slowdown) || slowdown <= 0)
      return refuse("expected slowdowns above zero, got " + std::to_string(slowdown));
  return Status::ok();
}

/// Whether the machines have what the message's scheme needs.
Status checkScheme(const Message &message, const Machines &machines) {
  const std::string name =
      "message '" + message.name + "' by " + std::string(schemeName(message.scheme));
  if (message.isStated)
    return message.cost ? Status::ok() : refuse(name + " has no cost");
  if (!machines.network)
    return Status::badInput(name + ": the cluster has no network, nor does it state that cost");
  if (message.scheme == Scheme::hierarchical && (!machines.inside || machines.devicesPerNode < 2 ||
                                                 machines.ranks % machines.devicesPerNode != 0))
    return Status::badInput(name + ": expected nodes of several devices, all alike, and what joins "
                                   "them inside");
  return Status::ok();
}

} // namespace

Status validate(const Scenario &scenario) {
  if (Status machines = checkMachines(scenario.machines); !machines)
    return machines;
  if (scenario.steps < 1)
    return refuse("expected at least one step");
  if (!(scenario.jitter >= 0 && scenario.jitter < 1))
    return refuse("expected a jitter of at least 0 and below 1, got " +
                  std::to_string(scenario.jitter));
  for (const Message &message : scenario.messages) {
    if (message.bytes < 0 || message.channel < 0 || !isTime(message.shardUpdate))
      return refuse("message '" + message.name + "': expected bytes, channel and times of zero up");
    if (Status scheme = checkScheme(message, scenario.machines); !scheme)
      return scheme;
  }
  if (scenario.loss >= 0 && scenario.loss + 1 != static_cast<int>(scenario.messages.size()))
    return refuse("expected the loss's message behind the others");
  std::vector<int> uses(scenario.messages.size(), 0); // 1 once issued, 2 once waited for
  for (const Operation &op : scenario.operations) {
    if (!isTime(op.seconds))
      return refuse("operation of '" + op.layer + "': expected a finite time of zero up");
    if (op.kind == Operation::Kind::compute)
      continue;
    if (op.message < 0 || static_cast<std::size_t>(op.message) >= uses.size())
      return refuse("no message " + std::to_string(op.message));
    int &used = uses[static_cast<std::size_t>(op.message)];
    if (op.kind == Operation::Kind::issue ? used != 0
                                          : used != (op.kind == Operation::Kind::wait ? 1 : 2))
      return refuse("message " + std::to_string(op.message) +
                    ": expected issue, wait, update in this order");
    used += op.kind == Operation::Kind::update ? 0 : 1;
  }
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i] != 2)
      return refuse("message " + std::to_string(i) + " is not issued and waited for");
  return Status::ok();
}

} // namespace syncline::simulate
