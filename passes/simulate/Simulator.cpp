// Simulates ranks, each with one compute stream and with channels that keep the order of issue.
#include "passes/simulate/ComputeStream.h"
#include "passes/simulate/MessageRuns.h"
#include "passes/simulate/Noise.h"
#include "passes/simulate/Simulation.h"

#include <algorithm>
#include <deque>

namespace syncline::simulate {

namespace {

/// The maximum bytes of results: a span for each operation and each message of all ranks and steps.
constexpr double maxBytes = 4e9;

class Simulator {
public:
  explicit Simulator(const Scenario &scenario)
      : scenario(scenario), runs(
                                scenario, events,
                                [this](double now, std::int64_t key, int rank) {
                                  foresee(ranks[rank].stream.enter(now, slowingOf(key)), rank);
                                },
                                [this](double now, std::int64_t key, int rank, int decider) {
                                  leave(now, key, rank, decider);
                                }) {
    result.ranks = runs.ranks();
    result.isFolded = runs.isFolded();
    result.isWhole = runs.isWhole();
    result.steps = scenario.steps;
    result.operationCount = scenario.operations.size();
    result.messageCount = scenario.messages.size();
    std::size_t draws = 0;
    for (const Operation &op : scenario.operations)
      drawOf.push_back(op.kind == Operation::Kind::issue ? draws : draws++);
    isCarried = carriedOperations(scenario);
    result.isCarrying = std::ranges::count(isCarried, true) > 0;
    result.warmUp = std::max(scenario.warmUp, result.isCarrying && scenario.steps > 1 ? 1 : 0);
    int channels = 0;
    for (const Message &message : scenario.messages)
      channels = std::max(channels, message.channel + 1);
    for (int rank = 0; rank < result.ranks; ++rank)
      ranks.emplace_back().channels.resize(static_cast<std::size_t>(channels));
    for (const Message &message : scenario.messages)
      slowings.emplace_back(slowing(message, scenario.machines),
                            slowing(message, scenario.machines, problem::WorkClass::products),
                            slowing(message, scenario.machines, problem::WorkClass::memory));
  }

  Result<Simulation> run() {
    SYNCLINE_TRY(checkSize());
    const auto rankSteps = static_cast<std::size_t>(scenario.steps) * result.ranks;
    result.operations.resize(rankSteps * result.operationCount);
    result.messages.resize(rankSteps * result.messageCount);
    for (int rank = 0; rank < result.ranks; ++rank)
      proceed(0, rank);
    runs.settle(0);
    while (!events.empty()) {
      const Event event = events.top();
      events.pop();
      handle(event);
      if (events.empty() || events.top().time > event.time)
        runs.settle(event.time);
    }
    addUses();
    return std::move(result);
  }

private:
  struct Channel {
    std::deque<std::int64_t> queue; ///< keys: step * messages + message
    std::int64_t last = -1;
    bool isBusy = false;
    double busy = 0; ///< seconds with a message
  };
  struct Rank {
    int step = 0;
    std::size_t next = 0; ///< index of the next operation
    std::int64_t waitsFor = -1;
    ComputeStream stream;
    std::vector<Channel> channels;
    std::vector<std::int64_t> arrived; ///< keys of messages that no wait has met yet
  };

  /// Checks that results fit into memory, and that messages that are not expanded have a cost.
  Status checkSize() const {
    const double each = static_cast<double>(result.operationCount * sizeof(Span) +
                                            result.messageCount * sizeof(MessageSpan));
    if (static_cast<double>(scenario.steps) * result.ranks * each > maxBytes)
      return Status::badInput("scenario: " + std::to_string(scenario.steps) + " steps of " +
                              std::to_string(result.ranks) +
                              " ranks are more than can be kept, expected fewer steps or ranks");
    for (std::size_t i = 0; i < result.messageCount; ++i)
      if (result.isWhole[i] && !scenario.messages[i].cost)
        return Status::badInput("scenario: message '" + scenario.messages[i].name +
                                "' is too long to simulate round by round and has no cost");
    return Status::ok();
  }

  void handle(const Event &event) {
    switch (event.kind) {
    case Event::Kind::operation:
      return resume(event);
    case Event::Kind::task:
      return runs.onPart(event);
    case Event::Kind::flow:
      return runs.onFlow(event);
    }
  }

  Span &span(int rank, std::size_t op) {
    return result.operations[(static_cast<std::size_t>(ranks[rank].step) * result.ranks + rank) *
                                 result.operationCount +
                             op];
  }
  MessageSpan &messageSpan(std::int64_t key, int rank) {
    const auto messages = static_cast<std::int64_t>(result.messageCount);
    return result
        .messages[(static_cast<std::size_t>(key / messages) * result.ranks + rank) * messages +
                  key % messages];
  }
  std::int64_t keyOf(const Rank &rank, int message) const {
    return static_cast<std::int64_t>(rank.step) * static_cast<std::int64_t>(result.messageCount) +
           message;
  }

  double seconds(int rank, std::size_t op) const {
    const Operation &what = scenario.operations[op];
    const double share = what.phase == Phase::update ? 1 : scenario.machines.shareOf(rank);
    const double stated =
        what.seconds * scenario.machines.slowdownOf(rank) * share * scatterOf(rank);
    if (scenario.jitter == 0)
      return stated;
    const std::uint64_t place =
        (static_cast<std::uint64_t>(ranks[rank].step) * result.ranks + rank) *
            result.operationCount +
        drawOf[op];
    return stated * (1 + scenario.jitter * noise(scenario.seed, place));
  }

  /// How much longer than usual the rank's operations take in its step.
  double scatterOf(int rank) const {
    return scenario.replaysScatter ? scenario.scatter.of(rank, ranks[rank].step, scenario.seed)
                                   : slowest;
  }

  /// Continues the rank after the end of an operation or of a wait.
  void resume(const Event &event) {
    Rank &rank = ranks[event.what];
    if (event.version != rank.stream.version())
      return; // messages came or went, so the end has moved
    if (rank.stream.isRunning()) {
      rank.stream.finish();
      span(event.what, rank.next - 1).end = event.time;
    }
    proceed(event.time, event.what);
  }

  /// Notes that the rank's operation ends at another time, where there is one.
  void foresee(std::optional<double> end, int number) {
    if (end)
      pushResume(*end, number);
  }

  const Slowing &slowingOf(std::int64_t key) const {
    return slowings[static_cast<std::size_t>(key % static_cast<std::int64_t>(slowings.size()))];
  }

  void pushResume(double time, int number) {
    events.push({.time = time, .what = number, .version = ranks[number].stream.version()});
  }

  /// Carries out the rank's operations until one takes time.
  void proceed(double now, int number) {
    Rank &rank = ranks[number];
    for (; rank.step < scenario.steps; ++rank.step, rank.next = 0)
      while (rank.next < scenario.operations.size()) {
        const std::size_t op = rank.next++;
        if (!carryOut(now, number, op))
          return;
      }
  }

  /// Carries out an operation; returns whether it is over at once.
  bool carryOut(double now, int number, std::size_t op) {
    Rank &rank = ranks[number];
    const Operation &what = scenario.operations[op];
    span(number, op) = {now, now};
    if (isCarried[op] && rank.step == 0)
      return true; // nothing is under way yet
    switch (what.kind) {
    case Operation::Kind::compute:
    case Operation::Kind::square:
    case Operation::Kind::update: {
      const double time = seconds(number, op);
      if (time <= 0)
        return true;
      pushResume(rank.stream.begin(now, time, what.work), number);
      return false;
    }
    case Operation::Kind::issue:
      issue(now, number, keyOf(rank, what.message), what.message);
      return true;
    case Operation::Kind::wait: {
      const std::int64_t key = keyOf(rank, what.message) -
                               (isCarried[op] ? static_cast<std::int64_t>(result.messageCount) : 0);
      auto found = std::ranges::find(rank.arrived, key);
      if (found == rank.arrived.end()) {
        rank.waitsFor = key;
        return false;
      }
      rank.arrived.erase(found);
      return true;
    }
    }
    return true;
  }

  void issue(double now, int number, std::int64_t key, int message) {
    messageSpan(key, number).issued = now;
    Channel &channel = ranks[number].channels[scenario.messages[message].channel];
    channel.queue.push_back(key);
    startNext(now, number, channel);
  }

  void startNext(double now, int number, Channel &channel) {
    if (channel.isBusy || channel.queue.empty())
      return;
    const std::int64_t key = channel.queue.front();
    channel.queue.pop_front();
    channel.isBusy = true;
    MessageSpan &message = messageSpan(key, number);
    message.start = now;
    message.before = std::exchange(channel.last, key);
    runs.enter(now, key, number);
  }

  void leave(double now, std::int64_t key, int number, int decider) {
    Rank &rank = ranks[number];
    MessageSpan &message = messageSpan(key, number);
    message.end = now;
    message.decider = decider;
    const auto which =
        static_cast<std::size_t>(key % static_cast<std::int64_t>(result.messageCount));
    Channel &channel = rank.channels[scenario.messages[which].channel];
    channel.isBusy = false;
    channel.busy += now - message.start;
    if (rank.waitsFor == key) {
      rank.waitsFor = -1;
      span(number, rank.next - 1).end = now;
      pushResume(now, number);
    } else {
      rank.arrived.push_back(key);
    }
    startNext(now, number, channel); // first, so that the number under way does not drop to 0
    foresee(rank.stream.leave(now, slowingOf(key)), number);
  }

  void addUses() {
    for (int rank = 0; rank < result.ranks; ++rank) {
      const std::string place = "rank " + std::to_string(rank);
      result.resources.push_back({"compute", place, ranks[rank].stream.busy()});
      for (std::size_t i = 0; i < ranks[rank].channels.size(); ++i)
        result.resources.push_back(
            {"channel " + std::to_string(i), place, ranks[rank].channels[i].busy});
    }
    for (ResourceUse &use : runs.resources())
      result.resources.push_back(std::move(use));
  }

  const Scenario &scenario;
  Simulation result;
  EventQueue events;
  MessageRuns runs;
  std::vector<Rank> ranks;
  std::vector<Slowing> slowings; ///< by message: how much it slows operations
  /// The number of each operation's draw of jitter. Issues draw none, so that another order of
  /// messages meets the same jitter.
  std::vector<std::size_t> drawOf;
  std::vector<bool> isCarried; ///< by operation: it belongs to a message of the step before
  const double slowest = scenario.scatter.slowest(scenario.machines.ranks);
};

} // namespace

Result<Simulation> runScenario(const Scenario &scenario) {
  SYNCLINE_TRY(validate(scenario));
  return Simulator(scenario).run();
}

} // namespace syncline::simulate
