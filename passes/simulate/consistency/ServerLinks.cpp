// Flows between workers and servers.
#include "passes/simulate/consistency/ServerLinks.h"

#include <algorithm>
#include <utility>

namespace syncline::simulate {

ServerLinks::ServerLinks(const Machines &machines, std::int64_t bytes, ActionQueue &queue)
    : machines(machines), queue(queue), allBytes(static_cast<double>(bytes)) {
  isInside = !machines.dedicated && machines.nodes() == 1;
  servers = machines.dedicated     ? std::max(machines.servers, 1)
            : machines.servers > 0 ? std::min(machines.servers, machines.ranks)
                                   : machines.ranks;
  const problem::LinkRates link = isInside && machines.inside
                                      ? *machines.inside
                                      : machines.network.value_or(problem::LinkRates());
  latency = link.latency;
  serverLatency = machines.dedicated ? machines.serverLink.latency : latency;
  adding =
      (machines.dedicated ? machines.serverLink : link).reduceSecondsPerByte * allBytes / servers;
  if (link.secondsPerByte <= 0 || bytes <= 0)
    return;
  double poolCapacity = 0;
  const int count = isInside ? machines.ranks : machines.nodes();
  for (int i = 0; i < count; ++i) {
    const double rate = isInside ? link.secondsPerByte : machines.networkOf(i).secondsPerByte;
    const double capacity = (isInside ? 1 : machines.cardsPerNode) / rate;
    ports.push_back(addPort(capacity));
    if (i <= (isInside ? servers - 1 : machines.nodeOf(servers - 1)))
      poolCapacity += capacity;
  }
  if (machines.dedicated)
    poolCapacity = servers / machines.serverLink.secondsPerByte;
  pool = addPort(poolCapacity);
}

int ServerLinks::serversBeside(int worker) const {
  if (machines.dedicated)
    return 0;
  if (isInside)
    return worker < servers ? 1 : 0;
  const int first = machines.nodeOf(worker) * machines.devicesPerNode;
  return std::clamp(servers - first, 0, machines.devicesPerNode);
}

bool ServerLinks::areTogether(int worker, int other) const {
  return !isInside && machines.nodeOf(worker) == machines.nodeOf(other);
}

double ServerLinks::payload(int worker) const {
  return allBytes * (servers - serversBeside(worker)) / servers;
}

ServerLinks::Port ServerLinks::addPort(double capacity) {
  Port port;
  port.out = network.addResource(capacity);
  port.in = machines.halfDuplex ? port.out : network.addResource(capacity);
  return port;
}

/// Links of colocated servers carry their own workers' messages too.
Path ServerLinks::pathOf(int worker, bool isPush) const {
  const Port &own = ports[static_cast<std::size_t>(isInside ? worker : machines.nodeOf(worker))];
  const bool isBeside = serversBeside(worker) > 0;
  Path path;
  path[0] = {isPush ? own.out : own.in};
  if (machines.halfDuplex)
    path[1] = {pool.out, isBeside ? 2.0 : 1.0};
  else
    path[1] = {isPush ? pool.in : pool.out};
  if (isBeside && !machines.halfDuplex)
    path[2] = {isPush ? pool.out : pool.in};
  return path;
}

double ServerLinks::latencyToFirst(int worker) const {
  return !machines.dedicated && worker == 0 ? 0 : latency;
}

void ServerLinks::send(int worker, bool isPush, ActionQueue::Action arrived) {
  const double bytes = payload(worker);
  sent += bytes;
  const double wait = allBytes > 0 && bytes <= 0 ? 0 : isPush ? latency : serverLatency;
  if (ports.empty() || bytes <= 0)
    return queue.after(wait, std::move(arrived));
  queue.after(wait, [this, worker, isPush, arrived = std::move(arrived)] {
    startFlow(worker, isPush, arrived);
  });
}

void ServerLinks::startFlow(int worker, bool isPush, ActionQueue::Action arrived) {
  if (freeTags.empty()) {
    freeTags.push_back(flows.size());
    flows.emplace_back();
  }
  const std::uint64_t tag = freeTags.back();
  freeTags.pop_back();
  const int number = network.start(queue.now(), pathOf(worker, isPush), payload(worker), tag);
  flows[tag] = {std::move(arrived), worker, number};
}

void ServerLinks::settle() {
  network.settle(queue.now(), [this](const FlowNetwork::Ending &ending) {
    queue.at(std::max(ending.time, queue.now()), [this, ending] {
      if (!network.isCurrent(ending))
        return;
      const std::uint64_t tag = network.finish(ending);
      const ActionQueue::Action arrived = std::exchange(flows[tag].arrived, nullptr);
      freeTags.push_back(tag);
      arrived();
    });
  });
}

double ServerLinks::trafficOf(int worker) const {
  if (ports.empty())
    return 0;
  const bool hasShard = !machines.dedicated && worker < servers;
  double bytes = 0;
  for (const Flow &flow : flows) {
    if (!flow.arrived)
      continue;
    const double rate = network.rate(flow.number);
    if (flow.worker == worker)
      bytes += rate;
    else if (hasShard && !areTogether(worker, flow.worker))
      bytes += rate / (servers - serversBeside(flow.worker));
  }
  const Port &own = ports[static_cast<std::size_t>(isInside ? worker : machines.nodeOf(worker))];
  const double capacity = network.capacity(own.out) * (machines.halfDuplex ? 1 : 2);
  return std::min(1.0, bytes / capacity);
}

void ServerLinks::lock(ActionQueue::Action done) {
  lockFree = std::max(lockFree, queue.now()) + adding;
  locked += adding;
  queue.at(lockFree, std::move(done));
}

double ServerLinks::load() const {
  if (ports.empty() || queue.now() <= 0)
    return 0;
  const double bytes = std::max(network.load(pool.out).bytes, network.load(pool.in).bytes);
  return bytes / (network.capacity(pool.out) * queue.now());
}

} // namespace syncline::simulate
