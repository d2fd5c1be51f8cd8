// Resources of nodes, devices and servers.
#include "passes/simulate/Topology.h"

namespace syncline::simulate {

Topology::Topology(const Machines &machines, bool isFolded, FlowNetwork &network)
    : model(machines), network(network) {
  if (!model.network)
    return; // every message has a stated time
  const int nodes = isFolded ? 1 : model.nodes();
  for (int node = 0; node < nodes; ++node)
    addNode(node);
  const int ranks = isFolded ? 1 : model.ranks;
  for (int rank = 0; rank < ranks && model.devicesPerNode > 1; ++rank) {
    const double capacity =
        model.inside ? 1 / model.inside->secondsPerByte
                     : model.cardsPerNode / model.networkOf(model.nodeOf(rank)).secondsPerByte;
    deviceOut.push_back(add(capacity, "inside out", "rank " + std::to_string(rank)));
    deviceIn.push_back(add(capacity, "inside in", "rank " + std::to_string(rank)));
  }
  const int servers = !model.dedicated ? 0 : isFolded ? 1 : model.servers;
  for (int server = 0; server < servers; ++server) {
    const std::string place = "server " + std::to_string(server);
    const double capacity = 1 / model.serverLink.secondsPerByte;
    serverOut.push_back(add(capacity, model.halfDuplex ? "server link" : "server out", place));
    serverIn.push_back(model.halfDuplex ? serverOut.back() : add(capacity, "server in", place));
  }
}

int Topology::add(double capacity, const char *kind, std::string place) {
  resourceNames.push_back({kind, std::move(place)});
  return network.addResource(capacity);
}

void Topology::addNode(int node) {
  const std::string place = "node " + std::to_string(node);
  const double capacity = model.cardsPerNode / model.networkOf(node).secondsPerByte;
  nodeOut.push_back(add(capacity, model.halfDuplex ? "network" : "network out", place));
  nodeIn.push_back(model.halfDuplex ? nodeOut.back() : add(capacity, "network in", place));
}

double Topology::reduceSecondsPerByte(int endpoint) const {
  return isServer(endpoint) ? model.serverLink.reduceSecondsPerByte
                            : model.networkOf(model.nodeOf(endpoint)).reduceSecondsPerByte;
}

double Topology::latency(int endpoint) const {
  return isServer(endpoint) ? model.serverLink.latency
                            : model.networkOf(model.nodeOf(endpoint)).latency;
}

Topology::Hop Topology::hop(int from, int to) const {
  const bool areRanks = !isServer(from) && !isServer(to);
  if (areRanks && model.nodeOf(from) == model.nodeOf(to))
    return {{Use{deviceOut[from]}, Use{deviceIn[to]}},
            model.inside ? model.inside->latency : latency(from)};
  Hop hop{{}, latency(from)};
  std::size_t count = 0;
  // Links inside a node limit a message only where `inside` gives their rate; else the cards
  // limit it.
  if (!isServer(from) && model.devicesPerNode > 1 && model.inside)
    hop.path[count++] = {deviceOut[from]};
  hop.path[count++] = {isServer(from) ? serverOut[from - model.ranks]
                                      : nodeOut[model.nodeOf(from)]};
  hop.path[count++] = {isServer(to) ? serverIn[to - model.ranks] : nodeIn[model.nodeOf(to)]};
  if (!isServer(to) && model.devicesPerNode > 1 && model.inside)
    hop.path[count++] = {deviceIn[to]};
  return hop;
}

Topology::Hop Topology::foldedHop(double sharers) const {
  Hop hop{{}, latency(0)};
  std::size_t count = 0;
  hop.path[count++] = {nodeOut[0], model.halfDuplex ? 2 * sharers : sharers};
  if (!model.halfDuplex)
    hop.path[count++] = {nodeIn[0], sharers};
  if (model.devicesPerNode > 1 && model.inside) {
    hop.path[count++] = {deviceOut[0]};
    hop.path[count++] = {deviceIn[0]};
  }
  return hop;
}

Topology::Hop Topology::foldedInside() const {
  return {{Use{deviceOut[0]}, Use{deviceIn[0]}}, model.inside->latency};
}

Topology::Hop Topology::foldedToServers(bool isPush) const {
  // The worker's flow stands for its flows to all servers; each server serves all workers alike.
  const double perServer = static_cast<double>(model.ranks) / model.servers;
  const double devices = model.devicesPerNode;
  const bool hasInside = model.devicesPerNode > 1 && model.inside;
  Hop hop{{}, isPush ? latency(0) : model.serverLink.latency};
  std::size_t count = 0;
  if (hasInside)
    hop.path[count++] = {isPush ? deviceOut[0] : deviceIn[0]};
  hop.path[count++] = {isPush ? nodeOut[0] : nodeIn[0], devices};
  hop.path[count++] = {isPush ? serverIn[0] : serverOut[0], perServer};
  return hop;
}

} // namespace syncline::simulate
