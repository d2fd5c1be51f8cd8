// MessageRuns: messages under way. Ranks enter a message one by one, its tasks run as events and
// flows, and each rank is told when the message is over for it.
#pragma once

#include "passes/simulate/FlowNetwork.h"
#include "passes/simulate/MessageExpansion.h"
#include "passes/simulate/Simulation.h"
#include "passes/simulate/StatedRuns.h"

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace syncline::simulate {

/// An event at a time; of events at equal times the one pushed first comes first.
struct Event {
  enum class Kind { operation, task, flow };
  double time = 0;
  std::uint64_t order = 0;
  Kind kind = Kind::operation;
  int run = 0;               ///< for a task
  int what = 0;              ///< rank of the operation, number of the task, or flow
  std::uint32_t version = 0; ///< of a prediction; 0 for a task that ends when it says

  bool operator>(const Event &other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

class EventQueue {
public:
  void push(Event event) {
    event.order = count++;
    events.push(event);
  }
  bool empty() const { return events.empty(); }
  const Event &top() const { return events.top(); }
  void pop() { events.pop(); }

private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::uint64_t count = 0;
};

class MessageRuns {
public:
  /// Called when the message gets under way for a rank: when the rank enters it or, where all ranks
  /// wait for each other first, when the last rank enters it.
  using Start = std::function<void(double now, std::int64_t key, int rank)>;
  /// Called when the message is over for a rank; `decider` is the rank whose entry decided that.
  using Exit = std::function<void(double now, std::int64_t key, int rank, int decider)>;

  /// Whether one rank may stand for all: all ranks are alike, and each message either treats them
  /// alike or takes its cost because it is too long to expand.
  static bool canFold(const Scenario &scenario);

  /// Decides how each of the scenario's messages runs. Keeps references to its arguments.
  MessageRuns(const Scenario &scenario, EventQueue &events, Start start, Exit exit);

  int ranks() const { return topologyRanks; }
  bool isFolded() const { return folded; }
  const std::vector<bool> &isWhole() const { return whole; }

  /// The rank begins the message; `key` is step * messages + message.
  void enter(double now, std::int64_t key, int rank);
  /// A task's delay is over, or a predicted flow has ended.
  void onPart(const Event &event);
  void onFlow(const Event &event);
  /// Predicts flows anew. Call this before time advances.
  void settle(double now);

  /// Names, capacities and loads of the links.
  std::vector<ResourceUse> resources() const;

private:
  struct Run {
    std::int64_t key = -1;
    const MessageExpansion *shape = nullptr;
    double bytes = 0;
    double scatter = 1;                          ///< it takes so many times as long
    std::vector<std::int32_t> waitsFor, decider; ///< by task
    int exitsLeft = 0;
  };

  void chooseWhole(const Scenario &scenario);
  const MessageExpansion &shapeOf(std::size_t message);
  int runOf(double now, std::int64_t key);
  void begin(double now, int run, int task);
  void complete(double now, int run, int task);
  void release(double now, int run);
  void shareSpeed(double now);

  const Scenario &scenario;
  EventQueue &events;
  Start start;
  Exit exit;
  bool folded;
  int topologyRanks;
  FlowNetwork network;
  StatedRuns stated;
  Topology topology;
  std::vector<bool> whole;
  /// Expansions by scheme, half and shard update.
  std::map<std::tuple<int, int, double, double>, MessageExpansion> byScheme;
  std::map<std::size_t, MessageExpansion> byMessage;
  std::vector<Run> runs;
  std::vector<int> freeRuns;
  std::map<std::int64_t, int> runOfKey;
  int expandedRuns = 0; ///< runs whose flows share links
};

} // namespace syncline::simulate
