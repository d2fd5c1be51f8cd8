// Max-min fairness by progressive filling: the tightest resource decides first.
#include "passes/simulate/FlowNetwork.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace syncline::simulate {

int FlowNetwork::addResource(double capacity) {
  resources.emplace_back().capacity = capacity;
  return resourceCount() - 1;
}

void FlowNetwork::markDirty(int resource) {
  if (!resources[resource].isDirty)
    dirty.push_back(resource);
  resources[resource].isDirty = true;
}

int FlowNetwork::start(double now, const Path &path, double bytes, std::uint64_t tag) {
  if (freeFlows.empty()) {
    freeFlows.push_back(static_cast<int>(flows.size()));
    flows.emplace_back();
  }
  const int number = freeFlows.back();
  freeFlows.pop_back();
  Flow &flow = flows[number];
  flow.path = path;
  flow.bytes = flow.left = bytes;
  flow.rate = 0;
  flow.since = now;
  flow.tag = tag;
  for (int i = 0; i < 4 && path[i].resource >= 0; ++i) {
    Resource &resource = resources[path[i].resource];
    if (resource.flows.empty())
      resource.busySince = now;
    flow.place[i] = static_cast<int>(resource.flows.size());
    resource.flows.emplace_back(number, i);
    markDirty(path[i].resource);
  }
  return number;
}

bool FlowNetwork::isCurrent(const Ending &ending) const {
  return flows[ending.flow].version == ending.version;
}

std::uint64_t FlowNetwork::finish(const Ending &ending) {
  Flow &flow = flows[ending.flow];
  ++flow.version;
  for (int i = 0; i < 4 && flow.path[i].resource >= 0; ++i) {
    Resource &resource = resources[flow.path[i].resource];
    auto [last, use] = resource.flows.back();
    resource.flows[flow.place[i]] = {last, use};
    flows[last].place[use] = flow.place[i];
    resource.flows.pop_back();
    resource.load.bytes += flow.bytes * flow.path[i].weight;
    if (resource.flows.empty())
      resource.load.busy += ending.time - resource.busySince;
    else
      markDirty(flow.path[i].resource);
  }
  freeFlows.push_back(ending.flow);
  return flow.tag;
}

bool FlowNetwork::isAlone(const Flow &flow) const {
  for (int i = 0; i < 4 && flow.path[i].resource >= 0; ++i)
    for (auto [other, use] : resources[flow.path[i].resource].flows)
      if (&flows[other] != &flow)
        return false;
  return true;
}

void FlowNetwork::setSpeed(double part) {
  if (part == speed)
    return;
  speed = part;
  for (int number = 0; number < resourceCount(); ++number)
    if (!resources[number].flows.empty())
      markDirty(number);
}

void FlowNetwork::setRate(int number, double share, double now,
                          const std::function<void(const Ending &)> &predicted) {
  Flow &flow = flows[number];
  const double rate = share * speed;
  if (rate == flow.rate)
    return;
  flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since));
  flow.rate = rate;
  flow.since = now;
  predicted({number, ++flow.version, now + flow.left / rate});
}

void FlowNetwork::reach(int first) {
  reachedFlows.clear();
  reachedResources = {first};
  resources[first].isReached = true;
  for (std::size_t i = 0; i < reachedResources.size(); ++i)
    for (auto [number, use] : resources[reachedResources[i]].flows) {
      Flow &flow = flows[number];
      if (flow.isReached)
        continue;
      flow.isReached = true;
      reachedFlows.push_back(number);
      for (int j = 0; j < 4 && flow.path[j].resource >= 0; ++j)
        if (Resource &other = resources[flow.path[j].resource]; !other.isReached) {
          other.isReached = true;
          reachedResources.push_back(flow.path[j].resource);
        }
    }
}

void FlowNetwork::shareOut(double now, const std::function<void(const Ending &)> &predicted) {
  using Share = std::pair<double, int>; // bytes per second and unit of weight; resource
  std::priority_queue<Share, std::vector<Share>, std::greater<>> tightest;
  for (int number : reachedResources) {
    Resource &resource = resources[number];
    resource.left = resource.capacity;
    resource.weight = 0;
    for (auto [flow, use] : resource.flows)
      resource.weight += flows[flow].path[use].weight;
    tightest.emplace(resource.left / resource.weight, number);
  }
  double level = 0; // shares only grow as others are fixed, so an old entry is a lower bound
  while (!tightest.empty()) {
    auto [share, number] = tightest.top();
    tightest.pop();
    Resource &resource = resources[number];
    if (resource.weight <= 0)
      continue;
    if (double current = resource.left / resource.weight; current > share) {
      tightest.emplace(current, number);
      continue;
    }
    level = std::max(level, share);
    for (auto [flowNumber, ownUse] : resource.flows) {
      Flow &flow = flows[flowNumber];
      if (flow.isShared)
        continue;
      flow.isShared = true;
      for (int i = 0; i < 4 && flow.path[i].resource >= 0; ++i) {
        Resource &passed = resources[flow.path[i].resource];
        passed.left = std::max(0.0, passed.left - level * flow.path[i].weight);
        passed.weight -= flow.path[i].weight;
      }
      setRate(flowNumber, level, now, predicted);
    }
    resource.weight = 0;
  }
}

void FlowNetwork::settle(double now, const std::function<void(const Ending &)> &predicted) {
  for (int number : dirty) {
    Resource &resource = resources[number];
    if (!resource.isDirty)
      continue;
    resource.isDirty = false;
    if (resource.flows.empty())
      continue;
    const int only = resource.flows.front().first;
    if (isAlone(flows[only])) {
      double rate = std::numeric_limits<double>::infinity();
      const Path &path = flows[only].path;
      for (int i = 0; i < 4 && path[i].resource >= 0; ++i)
        rate = std::min(rate, resources[path[i].resource].capacity / path[i].weight);
      setRate(only, rate, now, predicted);
      continue;
    }
    reach(number);
    shareOut(now, predicted);
    for (int reached : reachedResources)
      resources[reached].isReached = resources[reached].isDirty = false;
    for (int reached : reachedFlows)
      flows[reached].isReached = flows[reached].isShared = false;
  }
  dirty.clear();
}

FlowNetwork::Load FlowNetwork::load(int resource) const { return resources[resource].load; }

} // namespace syncline::simulate
