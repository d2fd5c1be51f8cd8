// Runs tasks as events, and their shares of the message as flows.
#include "passes/simulate/MessageRuns.h"

#include <algorithm>

namespace syncline::simulate {

namespace {

/// Whether every rank does the same at the same time.
bool areAlike(const Scenario &scenario) {
  const Machines &machines = scenario.machines;
  return scenario.jitter == 0 && !scenario.replaysScatter && machines.nodeNetwork.empty() &&
         machines.share.empty() && machines.ranks % machines.devicesPerNode == 0 &&
         std::ranges::all_of(machines.slowdown, [&](double slowdown) {
           return slowdown == machines.slowdown.front();
         });
}

} // namespace

bool MessageRuns::canFold(const Scenario &scenario) {
  if (!areAlike(scenario))
    return false;
  double tasks = 0;
  bool isSymmetricAll = true;
  for (const Message &message : scenario.messages) {
    if (message.isStated || scenario.machines.ranks == 1)
      continue;
    isSymmetricAll &= isSymmetric(message, scenario.machines);
    tasks += tasksOf(message, scenario.machines);
  }
  return isSymmetricAll || tasks * scenario.steps > scenario.maxTasks;
}

MessageRuns::MessageRuns(const Scenario &scenario, EventQueue &events, Start start, Exit exit)
    : scenario(scenario), events(events), start(std::move(start)), exit(std::move(exit)),
      folded(canFold(scenario)), topologyRanks(folded ? 1 : scenario.machines.ranks),
      stated(scenario.machines.messageInterference,
             [this](const StatedRuns::Ending &ending) {
               this->events.push({.time = ending.time,
                                  .kind = Event::Kind::task,
                                  .run = ending.run,
                                  .what = topologyRanks,
                                  .version = ending.version});
             }),
      topology(scenario.machines, folded, network) {
  chooseWhole(scenario);
}

void MessageRuns::chooseWhole(const Scenario &scenario) {
  whole.assign(scenario.messages.size(), false);
  double tasks = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const Message &message = scenario.messages[i];
    if (message.isStated || scenario.machines.ranks == 1)
      continue;
    if (folded && !isSymmetric(message, scenario.machines))
      whole[i] = true;
    else
      tasks += scenario.steps * (folded ? symmetricTasksOf(message, scenario.machines)
                                        : tasksOf(message, scenario.machines));
  }
  for (std::size_t i = 0; i < whole.size() && tasks > scenario.maxTasks; ++i)
    whole[i] = !scenario.messages[i].isStated;
}

const MessageExpansion &MessageRuns::shapeOf(std::size_t number) {
  const Message &message = scenario.messages[number];
  const bool isOne = scenario.machines.ranks == 1;
  const bool isTogether = isOne || message.isStated || whole[number];
  auto made = [&](auto &shapes, const auto &key) -> const MessageExpansion & {
    auto [entry, isNew] = shapes.try_emplace(key, 0);
    if (isNew)
      entry->second = isTogether ? together(topologyRanks, isOne ? 0 : message.costSeconds())
                      : folded ? expandSymmetric(message, topology)
                                 : expand(message, topology);
    return entry->second;
  };
  if (isTogether || !scales(message, scenario.machines))
    return made(byMessage, number);
  return made(byScheme, std::tuple(static_cast<int>(message.scheme), static_cast<int>(message.half),
                                   message.shardUpdate, message.wireShare));
}

int MessageRuns::runOf(double now, std::int64_t key) {
  if (auto found = runOfKey.find(key); found != runOfKey.end())
    return found->second;
  if (freeRuns.empty()) {
    freeRuns.push_back(static_cast<int>(runs.size()));
    runs.emplace_back();
  }
  const int number = freeRuns.back();
  freeRuns.pop_back();
  const auto message =
      static_cast<std::size_t>(key % static_cast<std::int64_t>(scenario.messages.size()));
  Run &run = runs[number];
  run.key = key;
  run.shape = &shapeOf(message);
  run.bytes = static_cast<double>(scenario.messages[message].bytes);
  run.scatter =
      scenario.messageScatterOf(message, key / static_cast<std::int64_t>(scenario.messages.size()));
  run.decider.assign(static_cast<std::size_t>(run.shape->size()), 0);
  run.waitsFor.resize(run.decider.size());
  for (int task = 0; task < run.shape->size(); ++task)
    run.waitsFor[task] = (*run.shape)[task].waitsFor;
  run.exitsLeft = run.shape->ranks();
  runOfKey[key] = number;
  expandedRuns += !run.shape->isTogether();
  shareSpeed(now);
  return number;
}

void MessageRuns::enter(double now, std::int64_t key, int rank) {
  const int run = runOf(now, key);
  runs[run].decider[rank] = rank;
  if (!runs[run].shape->isTogether())
    start(now, key, rank);
  begin(now, run, rank);
}

/// Tells messages of stated cost and those that share links of each other.
void MessageRuns::shareSpeed(double now) {
  stated.setOthers(now, expandedRuns > 0);
  network.setSpeed(stated.speedOfOthers());
}

void MessageRuns::begin(double now, int run, int task) {
  const Task &what = (*runs[run].shape)[task];
  const double delay = (what.delay + what.delayPerByte * runs[run].bytes) * runs[run].scatter;
  if (runs[run].shape->isTogether() && delay > 0) { // the task that takes the message's cost
    stated.begin(now, run, delay);
    return shareSpeed(now);
  }
  const Event event{.time = now + delay, .kind = Event::Kind::task, .run = run, .what = task};
  if (delay > 0 || runs[run].bytes == 0) // tasks without time must not nest as calls
    events.push(event);
  else
    onPart(event);
}

void MessageRuns::onPart(const Event &event) {
  if (event.version > 0) {
    if (!stated.isCurrent(event.run, event.version))
      return;
    stated.end(event.time, event.run);
    shareSpeed(event.time);
  }
  const Run &run = runs[event.run];
  const Task &task = (*run.shape)[event.what];
  const double bytes = task.share * run.bytes * run.scatter;
  if (bytes > 0)
    network.start(event.time, task.path, bytes,
                  static_cast<std::uint64_t>(event.run) << 32 |
                      static_cast<std::uint32_t>(event.what));
  else
    complete(event.time, event.run, event.what);
}

void MessageRuns::onFlow(const Event &event) {
  const FlowNetwork::Ending ending{event.what, event.version, event.time};
  if (!network.isCurrent(ending))
    return;
  const std::uint64_t tag = network.finish(ending);
  complete(event.time, static_cast<int>(tag >> 32), static_cast<int>(tag & 0xffffffff));
}

void MessageRuns::complete(double now, int number, int task) {
  const MessageExpansion &shape = *runs[number].shape;
  const std::int64_t key = runs[number].key;
  const int decider = runs[number].decider[task];
  for (int next : shape.after(task)) {
    Run &run = runs[number];
    if (--run.waitsFor[next] > 0)
      continue;
    run.decider[next] = decider;
    for (int rank = 0; shape.isTogether() && rank < shape.ranks(); ++rank)
      start(now, key, rank);
    begin(now, number, next);
  }
  for (auto [exitPart, rank] : shape.exitsAt(task)) {
    const bool isLast = --runs[number].exitsLeft == 0;
    if (isLast)
      release(now, number);
    exit(now, key, rank, decider);
  }
}

void MessageRuns::release(double now, int number) {
  expandedRuns -= !runs[number].shape->isTogether();
  shareSpeed(now);
  runOfKey.erase(runs[number].key);
  freeRuns.push_back(number);
}

void MessageRuns::settle(double now) {
  network.settle(now, [&](const FlowNetwork::Ending &ending) {
    events.push({.time = ending.time,
                 .kind = Event::Kind::flow,
                 .what = ending.flow,
                 .version = ending.version});
  });
}

std::vector<ResourceUse> MessageRuns::resources() const {
  std::vector<ResourceUse> uses;
  for (int i = 0; i < network.resourceCount(); ++i) {
    const FlowNetwork::Load load = network.load(i);
    const Topology::Name &name = topology.names()[static_cast<std::size_t>(i)];
    uses.push_back({name.kind, name.place, load.busy, load.bytes, network.capacity(i)});
  }
  return uses;
}

} // namespace syncline::simulate
