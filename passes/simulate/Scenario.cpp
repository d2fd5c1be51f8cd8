// Validates scenarios.
#include "passes/simulate/Scenario.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncline::simulate {

const problem::LinkRates &Machines::networkOf(int node) const {
  auto own = nodeNetwork.find(node);
  return own == nodeNetwork.end() ? *network : own->second;
}

/// The factor beside the message's bytes.
static double besideBytes(const Message &message, const Machines &machines,
                          std::optional<problem::WorkClass> work) {
  const Scheme scheme = pricedAs(message.scheme);
  if (const auto own = machines.classInterference.find(scheme);
      work && own != machines.classInterference.end())
    return own->second[*work];
  const auto own = machines.schemeInterference.find(scheme);
  return own == machines.schemeInterference.end() ? machines.interference : own->second;
}

double slowing(const Message &message, const Machines &machines,
               std::optional<problem::WorkClass> work) {
  const double beside = besideBytes(message, machines, work),
               early = machines.latencyInterference.value_or(beside);
  if (!message.cost || early == beside)
    return beside;
  const double updating =
                   message.isStated ? 0 : message.shardUpdate * static_cast<double>(message.bytes),
               time = message.cost->seconds(message.bytes) + updating,
               latency = std::min(message.cost->seconds(0), time);
  if (time <= 0)
    return early;
  // The seconds in which operations advance, of the message's.
  const double left = latency / early + (time - latency) / beside;
  return time / left;
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
  std::vector<double> interferences{machines.interference, machines.latencyInterference.value_or(1),
                                    machines.messageInterference};
  for (const auto &[scheme, times] : machines.schemeInterference)
    interferences.push_back(times);
  for (const auto &[scheme, times] : machines.classInterference)
    interferences.insert(interferences.end(), times.of.begin(), times.of.end());
  for (double times : interferences)
    if (!std::isfinite(times) || times < 1)
      return refuse("expected an interference of at least 1, got " + std::to_string(times));
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
  if (message.scheme == Scheme::library)
    return Status::badInput(name + ": the cluster does not state what NCCL's choice costs");
  if (message.scheme == Scheme::hierarchical && (!machines.inside || machines.devicesPerNode < 2 ||
                                                 machines.ranks % machines.devicesPerNode != 0))
    return Status::badInput(name + ": expected nodes of several devices, all alike, and what joins "
                                   "them inside");
  return Status::ok();
}

/// Whether each message has a factor for some steps, or none has.
Status checkMessageScatter(const Scenario &scenario) {
  constexpr double largest = 1e6;
  const auto &scatter = scenario.messageScatter;
  if (!scatter.empty() && scatter.size() != scenario.messages.size())
    return refuse("expected factors of " + std::to_string(scenario.messages.size()) +
                  " messages, got those of " + std::to_string(scatter.size()));
  for (const std::vector<double> &steps : scatter) {
    if (steps.empty())
      return refuse("expected a factor of every message, got none");
    for (const double factor : steps)
      if (!(factor > 0 && factor <= largest))
        return refuse("expected factors of messages above 0 and up to 1e6, got " +
                      std::to_string(factor));
  }
  return Status::ok();
}

/// What has been done with a message so far.
struct Uses {
  bool isIssued = false, isAwaited = false, isCarried = false;

  /// Notes another use; returns whether it may come now.
  bool add(Operation::Kind kind) {
    switch (kind) {
    case Operation::Kind::issue:
      return !std::exchange(isIssued, true);
    case Operation::Kind::wait:
      isCarried = !isIssued;
      return !std::exchange(isAwaited, true);
    case Operation::Kind::square:
    case Operation::Kind::update:
      return isAwaited && !(isCarried && isIssued);
    case Operation::Kind::compute:
      return true;
    }
    return true;
  }
};

} // namespace

std::size_t addSecondHalf(std::vector<Message> &messages, std::size_t first) {
  Message second = messages[first];
  messages[first].half = Half::first;
  second.half = Half::second;
  second.firstHalf = static_cast<int>(first);
  messages.push_back(std::move(second));
  return messages.size() - 1;
}

std::vector<bool> carriedMessages(const Scenario &scenario) {
  const std::size_t count = scenario.messages.size();
  std::vector<bool> carried(count), issued(count);
  for (const Operation &op : scenario.operations) {
    const auto message = static_cast<std::size_t>(op.message);
    if (op.message < 0 || message >= count)
      continue; // validate() refuses it
    if (op.kind == Operation::Kind::issue)
      issued[message] = true;
    else if (op.kind == Operation::Kind::wait)
      carried[message] = !issued[message];
  }
  return carried;
}

std::vector<bool> carriedOperations(const Scenario &scenario) {
  const std::vector<bool> messages = carriedMessages(scenario);
  std::vector<bool> carried;
  bool isCarried = false; // whether the operations after the last wait are
  for (const Operation &op : scenario.operations) {
    if (op.kind == Operation::Kind::wait)
      isCarried = messages[static_cast<std::size_t>(op.message)];
    else
      isCarried = isCarried && (op.kind == Operation::Kind::update || op.phase == Phase::update);
    carried.push_back(isCarried);
  }
  return carried;
}

Status validate(const Scenario &scenario) {
  SYNCLINE_TRY(checkMachines(scenario.machines));
  if (scenario.steps < 1)
    return refuse("expected at least one step");
  if (scenario.warmUp < 0 || scenario.warmUp >= scenario.steps)
    return refuse("expected a step behind those that are left out");
  if (!(scenario.jitter >= 0 && scenario.jitter < 1))
    return refuse("expected a jitter of at least 0 and below 1, got " +
                  std::to_string(scenario.jitter));
  if (Status scatter = validate(scenario.scatter); !scatter)
    return refuse("scatter: " + scatter.message());
  SYNCLINE_TRY(checkMessageScatter(scenario));
  for (const Message &message : scenario.messages) {
    if (message.bytes < 0 || message.channel < 0 || !isTime(message.shardUpdate))
      return refuse("message '" + message.name + "': expected bytes, channel and times of zero up");
    SYNCLINE_TRY(checkScheme(message, scenario.machines));
  }
  if (scenario.loss >= 0 && scenario.loss + 1 != static_cast<int>(scenario.messages.size()))
    return refuse("expected the loss's message behind the others");
  return validateUses(scenario);
}

Status validateUses(const Scenario &scenario) {
  std::vector<Uses> uses(scenario.messages.size());
  for (const Operation &op : scenario.operations) {
    if (!isTime(op.seconds))
      return refuse("operation of '" + op.layer + "': expected a finite time of zero up");
    if (op.kind == Operation::Kind::compute)
      continue;
    if (op.message < 0 || static_cast<std::size_t>(op.message) >= uses.size())
      return refuse("no message " + std::to_string(op.message));
    if (!uses[static_cast<std::size_t>(op.message)].add(op.kind))
      return refuse("message " + std::to_string(op.message) +
                    ": expected issue, wait, update in this order, or wait, update, issue");
  }
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (!uses[i].isIssued || !uses[i].isAwaited)
      return refuse("message " + std::to_string(i) + " is not issued and waited for");
  return Status::ok();
}

} // namespace syncline::simulate
