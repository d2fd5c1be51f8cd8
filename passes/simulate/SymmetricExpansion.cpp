// Expands messages for one rank that stands for all.
#include "passes/simulate/MessageExpansion.h"
#include "passes/simulate/Rounds.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace syncline::simulate {

namespace {

/// Tasks of which each waits for the one before.
class Chain {
public:
  /// A round moves `wireShare` of its bytes.
  explicit Chain(double wireShare) : wireShare(wireShare), unfolding(1) {}

  double wireShare;

  void add(const Task &task) {
    const int number = unfolding.add(task);
    unfolding.order(last, number);
    last = number;
  }
  /// Adds a round: the latency, the share over the hop, then the sum of the bytes that arrived.
  void round(const Topology::Hop &hop, double share, double reduceSecondsPerByte) {
    add({.delay = hop.latency, .delayPerByte = owed, .share = share * wireShare, .path = hop.path});
    owed = share * reduceSecondsPerByte;
  }
  /// Delays the next task.
  void pause(double secondsPerByte) { owed += secondsPerByte; }

  MessageExpansion finish() {
    if (owed > 0)
      add({.delayPerByte = owed});
    unfolding.finish({last});
    return std::move(unfolding);
  }

private:
  MessageExpansion unfolding;
  int last = 0;
  double owed = 0; ///< seconds per byte of the sum that the next task waits for
};

/// Adds a ring: n - 1 rounds of share / n.
void addRing(Chain &chain, int count, double share, const Topology::Hop &hop, double reduce) {
  for (int i = 1; i < count; ++i)
    chain.round(hop, share / count, reduce);
}

void addHierarchical(Chain &chain, const Topology &topology) {
  const Machines &machines = topology.machines();
  const int devices = machines.devicesPerNode, nodes = machines.nodes();
  const Topology::Hop inside = topology.foldedInside(), between = topology.foldedHop(devices);
  addRing(chain, devices, 1, inside, machines.inside->reduceSecondsPerByte);
  addRing(chain, nodes, 1.0 / devices, between, topology.reduceSecondsPerByte(0));
  addRing(chain, nodes, 1.0 / devices, between, 0);
  addRing(chain, devices, 1, inside, 0);
}

/// Expands a message over servers for one worker: push, sum and pull, piece behind piece.
MessageExpansion foldServers(const Message &message, const Topology &topology) {
  const Machines &machines = topology.machines();
  const auto bytes = static_cast<double>(message.bytes);
  const double whole = static_cast<double>(machines.serverPiece) * machines.servers;
  const double perByte = static_cast<double>(machines.ranks - 1) / machines.servers *
                         machines.serverLink.reduceSecondsPerByte;
  MessageExpansion result(1);
  int push = 0, sum = -1, pull = -1;
  for (double left = bytes; left > 0; left -= whole) {
    const double share = std::min(left, whole) / bytes, sent = share * message.wireShare;
    const bool isFirst = pull < 0;
    const Topology::Hop out = topology.foldedToServers(true),
                        back = topology.foldedToServers(false);
    const int pushed = result.add(
        {.delay = isFirst ? machines.servers * out.latency : 0, .share = sent, .path = out.path});
    const int summed = result.add({.delayPerByte = share * perByte});
    const int pulled = result.add(
        {.delay = isFirst ? machines.ranks * back.latency : 0, .share = sent, .path = back.path});
    result.order(push, pushed);
    result.order(pushed, summed);
    result.order(summed, pulled);
    if (!isFirst) {
      result.order(sum, summed);
      result.order(pull, pulled);
    }
    push = pushed;
    sum = summed;
    pull = pulled;
  }
  result.finish({std::max(pull, 0)});
  return result;
}

} // namespace

bool isSymmetric(const Message &message, const Machines &machines) {
  const bool isFlat = machines.devicesPerNode == 1;
  if (message.scheme == Scheme::hierarchical)
    return true;
  if (message.scheme == Scheme::parameterServer)
    return machines.dedicated ||
           (isFlat && (machines.servers == 0 || machines.servers == machines.ranks));
  const SchemeRounds *rounds = roundsOf(message.scheme);
  return rounds && isFlat &&
         (!rounds->onPowersOfTwo || std::has_single_bit(static_cast<unsigned>(machines.ranks)));
}

double symmetricTasksOf(const Message &message, const Machines &machines) {
  const double p = machines.ranks;
  if (message.scheme == Scheme::hierarchical)
    return 2.0 * (machines.devicesPerNode + machines.nodes());
  if (const SchemeRounds *rounds = roundsOf(message.scheme))
    return rounds->count(p);
  if (!machines.dedicated)
    return 2 * p;
  return 3 + 3 * static_cast<double>(message.bytes) /
                 (static_cast<double>(machines.serverPiece) * machines.servers);
}

MessageExpansion expandSymmetric(const Message &message, const Topology &topology) {
  const Machines &machines = topology.machines();
  const int ranks = machines.ranks;
  if (!scales(message, machines))
    return foldServers(message, topology);
  const Topology::Hop both = topology.foldedHop(1);
  const double reduce = topology.reduceSecondsPerByte(0);
  Chain chain(message.wireShare);
  if (message.scheme == Scheme::hierarchical) {
    addHierarchical(chain, topology);
    return chain.finish();
  }
  bool isSummed = false;
  // Runs once, between the rounds that sum and those that spread.
  auto update = [&] {
    if (std::exchange(isSummed, true))
      return;
    if (message.half != Half::second)
      chain.pause(message.shardUpdate);
    if (message.scheme == Scheme::reduceScatter)
      chain.wireShare = 1; // parameters
  };
  // A server on every rank: a block to each, then a sum to each, as around a ring.
  const bool byServers = message.scheme == Scheme::parameterServer;
  if (const SchemeRounds *rounds = roundsOf(byServers ? Scheme::ring : message.scheme))
    rounds->visitOne(ranks, [&](double share, bool adds) {
      if (!adds)
        update();
      if (message.half == Half::whole || adds == (message.half == Half::first))
        chain.round(both, share, adds ? reduce : 0);
    });
  update();
  return chain.finish();
}

} // namespace syncline::simulate
