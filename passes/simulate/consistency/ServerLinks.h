// ServerLinks: messages between workers and the servers that hold shards of the weights.
#pragma once

#include "passes/simulate/FlowNetwork.h"
#include "passes/simulate/Scenario.h"
#include "passes/simulate/consistency/ActionQueue.h"

#include <cstdint>

namespace syncline::simulate {

/// All shards have the same size, and a worker's message goes to all of them at once. So the
/// servers' links are one resource a direction with the bandwidth of all of them. A worker's
/// messages share the cards of its node with those of the node's other workers. What a worker sends
/// to a server of its own node is free where there are several nodes. Latency counts once a
/// message. Colocated servers are beside the first workers, or beside all workers where the
/// machines name no servers.
class ServerLinks {
public:
  /// Precondition: the machines state what validate() of WorkerScenario demands.
  ServerLinks(const Machines &machines, std::int64_t bytes, ActionQueue &queue);

  /// Sends all weights from a worker to all shards; `arrived` follows.
  void push(int worker, ActionQueue::Action arrived) { send(worker, true, std::move(arrived)); }
  /// Sends all weights from all shards to a worker; `arrived` follows.
  void pull(int worker, ActionQueue::Action arrived) { send(worker, false, std::move(arrived)); }
  /// Seconds of a message without bytes between the worker and the first server.
  double latencyToFirst(int worker) const;
  /// Carries out what holds the lock of the shards, one after the other: adding a message.
  void lock(ActionQueue::Action done);
  /// Seconds in which a server adds a message to its shard.
  double addSeconds() const { return adding; }

  /// Shares links among flows that have come or gone. To be called before time goes on.
  void settle();
  /// The part of what a host's link could carry in both directions that messages of this worker,
  /// and of the shard that it may hold, carry now.
  double trafficOf(int worker) const;

  double bytesSent() const { return sent; } ///< between workers and servers so far
  /// The part of the servers' bandwidth used until now, of the busier direction.
  double load() const;
  /// The part of the time until now in which the lock was held.
  double lockLoad() const { return queue.now() > 0 ? locked / queue.now() : 0; }

private:
  struct Port {
    int out = -1, in = -1;
  };
  Port addPort(double capacity);
  void send(int worker, bool isPush, ActionQueue::Action arrived);
  void startFlow(int worker, bool isPush, ActionQueue::Action arrived);
  Path pathOf(int worker, bool isPush) const;
  /// The servers that stand where a message from the worker crosses no link.
  int serversBeside(int worker) const;
  /// Whether messages from one to a server beside the other cross no link.
  bool areTogether(int worker, int other) const;
  double payload(int worker) const;

  const Machines &machines;
  ActionQueue &queue;
  FlowNetwork network;
  std::vector<Port> ports; ///< of nodes, or of ranks where there is one node
  Port pool;               ///< the links of all servers
  bool isInside = false;   ///< colocated servers on a single node
  int servers = 1;
  double allBytes = 0;
  double latency = 0, serverLatency = 0, adding = 0;
  double sent = 0, lockFree = 0, locked = 0;
  struct Flow {
    ActionQueue::Action arrived; ///< null where the tag is free
    int worker = 0, number = -1;
  };
  std::vector<Flow> flows; ///< by tag
  std::vector<std::uint64_t> freeTags;
};

} // namespace syncline::simulate
