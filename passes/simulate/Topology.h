// Topology: the resources of the machines, and those that lie between two machines.
#pragma once

#include "passes/simulate/FlowNetwork.h"
#include "passes/simulate/Scenario.h"

#include <string>
#include <vector>

namespace syncline::simulate {

/// The resources. A node's cards are one resource a direction (one for both where the network is
/// half duplex), and so is a dedicated server's link. Where nodes have several devices, each device
/// has a resource into its node and one out. Endpoints are ranks, then dedicated servers. Where
/// `isFolded`, one rank stands for all: its node is the only one, and weights count what the others
/// would add.
class Topology {
public:
  /// Adds the resources to `network`. Precondition: the machines are valid.
  Topology(const Machines &machines, bool isFolded, FlowNetwork &network);

  struct Hop {
    Path path;
    double latency = 0;
  };
  /// The path of a message between two endpoints. Precondition: they differ, and not `isFolded`.
  Hop hop(int from, int to) const;
  /// The path of the one rank through its node's cards, both ways, which `sharers` ranks use alike.
  Hop foldedHop(double sharers) const;
  /// The path of the one rank to its neighbour inside the node.
  Hop foldedInside() const;
  /// The path between the one worker and its servers, which all workers use alike.
  Hop foldedToServers(bool isPush) const;

  /// Seconds in which an endpoint adds a byte to its own, and seconds of latency of a message that
  /// it sends to another machine.
  double reduceSecondsPerByte(int endpoint) const;
  double latency(int endpoint) const;

  /// The name of a resource for people: kind "network out" and place "node 3".
  struct Name {
    std::string kind, place;
  };
  const std::vector<Name> &names() const { return resourceNames; }
  const Machines &machines() const { return model; }

private:
  int add(double capacity, const char *kind, std::string place);
  void addNode(int node);
  bool isServer(int endpoint) const { return endpoint >= model.ranks; }

  const Machines &model;
  FlowNetwork &network;
  std::vector<int> nodeOut, nodeIn, deviceOut, deviceIn, serverOut, serverIn;
  std::vector<Name> resourceNames;
};

} // namespace syncline::simulate
