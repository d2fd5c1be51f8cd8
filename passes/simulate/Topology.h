// Topology: the resources of the machines, and which of them lie between two of them.
#pragma once

#include "passes/simulate/FlowNetwork.h"
#include "passes/simulate/Scenario.h"

#include <string>
#include <vector>

namespace syncline::simulate {

/// A node's cards are one resource a direction (one in all where the network is half duplex), a
/// device's way into its node is two where nodes have several devices, a dedicated server is like a
/// node. Endpoints are ranks, then dedicated servers. Where `isFolded`, one rank stands for all:
/// its node is the only one, and weights count what the others would add.
class Topology {
public:
  /// Adds the resources to `network`. Precondition: the machines are valid.
  Topology(const Machines &machines, bool isFolded, FlowNetwork &network);

  struct Hop {
    Path path;
    double latency = 0;
  };
  /// What a message between two endpoints passes. Precondition: they differ, not folded.
  Hop hop(int from, int to) const;
  /// Of the one rank: through its node's cards both ways, which `sharers` ranks use alike.
  Hop foldedHop(double sharers) const;
  /// To the neighbour inside the node.
  Hop foldedInside() const;
  /// Between the one worker and its servers, which all workers use alike.
  Hop foldedToServers(bool isPush) const;

  /// Seconds an endpoint takes to add a byte to its own, and seconds a message that it sends to
  /// another machine costs.
  double reduceSecondsPerByte(int endpoint) const;
  double latency(int endpoint) const;

  /// For people: "network out", and whose: "node 3".
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
