// Issues each message as soon as it is ready, then waits and updates in order.
#include "passes/simulate/IssueOrder.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>

namespace syncline::simulate {

using problem::Problem;
using problem::Solution;

std::string summary(const std::vector<std::string> &members) {
  if (members.empty())
    return {};
  if (members.size() == 1)
    return members.front();
  return members.front() + " .. " + members.back() + " (" + std::to_string(members.size()) + ")";
}

/// The forward pass, cut where it first reads gradients' parameters.
static std::vector<Operation> forwardOf(double forwardEnd, const std::vector<std::string> &names,
                                        const std::vector<double> &reading) {
  std::vector<std::size_t> order(reading.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return reading[k]; });
  std::vector<Operation> operations{{.layer = "forward"}};
  double clock = 0;
  for (std::size_t k : order) {
    if (reading[k] > clock && reading[k] < forwardEnd) {
      operations.back().seconds = reading[k] - clock;
      clock = reading[k];
      operations.push_back({.layer = names[k]});
    } else if (reading[k] <= clock) {
      operations.back().layer = names[k];
    }
  }
  operations.back().seconds = forwardEnd - clock;
  return operations;
}

/// The operations, cut where another class begins.
static std::vector<Operation> byClass(const std::vector<Operation> &operations,
                                      const std::vector<problem::WorkSpan> &memoryBound) {
  std::vector<Operation> cut;
  double clock = 0;
  auto span = memoryBound.begin();
  for (const Operation &op : operations) {
    const double end = clock + op.seconds;
    do {
      while (span != memoryBound.end() && span->end <= clock)
        ++span;
      const bool isInside = span != memoryBound.end() && span->begin <= clock;
      const double border = span == memoryBound.end() ? end : isInside ? span->end : span->begin;
      const double next = std::min(end, border);
      cut.push_back(op);
      cut.back().seconds = next - clock;
      cut.back().work = isInside ? problem::WorkClass::memory : problem::WorkClass::products;
      clock = next;
    } while (clock < end);
  }
  return cut;
}

std::vector<Operation> operationsOf(const Problem &problem, double forwardEnd,
                                    const std::vector<std::string> &names,
                                    const std::vector<double> &reading) {
  std::vector<Operation> operations = forwardOf(forwardEnd, names, reading);
  double clock = forwardEnd;
  auto until = [&](double time, const std::string &name) {
    if (time > clock)
      operations.push_back({.phase = Phase::backward, .layer = name, .seconds = time - clock});
    clock = std::max(clock, time);
  };
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    until(problem.layers[k].ready, names[k]);
  until(problem.computeFree, "backward");
  return problem.memoryBound ? byClass(operations, *problem.memoryBound) : operations;
}

namespace {

class Issuer {
public:
  Issuer(const Problem &problem, const Solution &decisions, const std::vector<std::string> &names,
         const Updates &updates, const std::vector<double> &reading)
      : problem(problem), decisions(decisions), names(names), updates(updates), reading(reading) {}

  Scenario issue(std::vector<Operation> operations) {
    addMessages();
    double clock = 0;
    for (Operation &op : operations) {
      if (op.phase == Phase::forward)
        receiveReadBy(clock);
      clock += op.seconds;
      const bool mayIssue = op.phase == Phase::backward;
      scenario.operations.push_back(std::move(op));
      if (mayIssue)
        issueUntil(clock);
    }
    issueUntil(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < ready.size(); ++i)
      if (!isReceived[i])
        receive(i);
    return std::move(scenario);
  }

private:
  void addMessages() {
    for (const problem::Message &message : decisions.messages) {
      std::vector<std::string> members;
      std::int64_t bytes = 0;
      double last = 0, weight = 0;
      first.push_back(std::numeric_limits<double>::infinity());
      for (std::size_t layer : message.layers) {
        members.push_back(names[layer]);
        bytes += message.bytesOf(problem, layer);
        weight += weightOf(layer) * partIn(message, layer);
        last = std::max(last, problem.layers[layer].ready);
        noteReader(layer);
      }
      weights.push_back(weight);
      if (message.isFactors)
        addPiggybacks(message.layers.front(), members);
      const Scheme scheme = decisions.scheme(problem, message);
      if (isGathered(scheme))
        bytes = factorOptionOf(problem, message)->factorBytes;
      scenario.messages.push_back(
          {.name = summary(members), .scheme = scheme, .bytes = bytes, .channel = message.channel});
      ready.push_back(last);
    }
    isReceived.resize(ready.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      updated += updatesItself(i) ? 0 : weights[i];
    for (std::size_t message : orderWithHalves())
      channels[scenario.messages[message].channel].push_back(message);
  }

  /// Adds the all-gathers of messages in halves behind all messages. The order has their places.
  std::vector<std::size_t> orderWithHalves() {
    std::vector<std::size_t> order(ready.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::map<std::size_t, std::size_t> places; // of second halves
    for (std::size_t i = 0; i < ready.size(); ++i)
      if (const auto &gather = decisions.messages[i].gather)
        places[gather->place] = secondOf[i] = addSecondHalf(scenario.messages, i);
    for (const auto &[place, second] : places)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(std::min(place, order.size())),
                   second);
    return order;
  }

  /// When the message may be issued; a second half may be at once.
  double readyOf(std::size_t message) const { return message < ready.size() ? ready[message] : 0; }

  double partIn(const problem::Message &message, std::size_t layer) const {
    const std::int64_t all = problem.layers[layer].bytes;
    return all > 0 ? static_cast<double>(message.bytesOf(problem, layer)) / static_cast<double>(all)
                   : 1;
  }

  /// Notes when the last message's layer is read.
  void noteReader(std::size_t layer) {
    if (!reading.empty())
      first.back() = std::min(first.back(), reading[layer]);
  }

  void addPiggybacks(std::size_t carrier, std::vector<std::string> &members) {
    for (std::size_t piggyback : decisions.piggybacks)
      if (problem.layers[piggyback].carrier == carrier) {
        members.push_back(names[piggyback]);
        weights.back() += weightOf(piggyback);
        noteReader(piggyback);
      }
  }

  /// Issues, channel by channel, what is ready by then and has no message before it.
  void issueUntil(double clock) {
    // Sums of the same times in another order differ in their last bits.
    for (auto &[channel, queue] : channels)
      while (!queue.empty() && readyOf(queue.front()) <= clock * (1 + 1e-9)) {
        scenario.operations.push_back({.kind = Operation::Kind::issue,
                                       .phase = Phase::backward,
                                       .message = static_cast<int>(queue.front())});
        queue.pop_front();
      }
  }

  double weightOf(std::size_t layer) const {
    return updates.weights.empty() ? static_cast<double>(problem.layers[layer].bytes)
                                   : updates.weights[layer];
  }

  bool updatesItself(std::size_t message) const {
    return scenario.messages[message].scheme == Scheme::reduceScatter;
  }

  /// Receives the messages of gradients that the forward pass has begun to read at `clock`.
  void receiveReadBy(double clock) {
    for (std::size_t i = 0; i < first.size(); ++i)
      if (!isReceived[i] && first[i] <= clock * (1 + 1e-9))
        receive(i);
  }

  /// Waits for the message and makes its parameters new.
  void receive(std::size_t i) {
    isReceived[i] = true;
    const auto wait = [&](std::size_t message) {
      scenario.operations.push_back({.kind = Operation::Kind::wait,
                                     .phase = Phase::update,
                                     .message = static_cast<int>(message)});
    };
    wait(i);
    if (const auto second = secondOf.find(i); second != secondOf.end())
      wait(second->second);
    const problem::FactorOption *factorOption = factorOptionOf(problem, decisions.messages[i]);
    using problem::WorkClass;
    const auto classed = [&](WorkClass work) {
      return problem.memoryBound ? std::optional(work) : std::nullopt;
    };
    if (factorOption && factorOption->reconstruct > 0)
      scenario.operations.push_back({.phase = Phase::update,
                                     .layer = scenario.messages[i].name,
                                     .seconds = factorOption->reconstruct,
                                     .work = classed(WorkClass::products)});
    if (!updatesItself(i))
      scenario.operations.push_back(
          {.kind = Operation::Kind::update,
           .phase = Phase::update,
           .seconds = updated > 0 ? updates.seconds * weights[i] / updated : 0,
           .work = classed(WorkClass::memory),
           .message = static_cast<int>(i)});
  }

  const Problem &problem;
  const Solution &decisions;
  const std::vector<std::string> &names;
  const Updates &updates;
  const std::vector<double> &reading;
  Scenario scenario;
  std::vector<double> ready, weights; ///< of each message
  std::vector<double> first;          ///< by message: when one of its gradients is read first
  std::vector<bool> isReceived;       ///< by message
  double updated = 0;                 ///< weight of all messages that update apart
  std::map<int, std::deque<std::size_t>> channels; ///< by channel: messages to issue, in order
  std::map<std::size_t, std::size_t> secondOf;     ///< second halves by first half
};

} // namespace

Scenario issueMessages(std::vector<Operation> operations, const Problem &problem,
                       const Solution &decisions, const std::vector<std::string> &names,
                       const Updates &updates, const std::vector<double> &reading) {
  return Issuer(problem, decisions, names, updates, reading).issue(std::move(operations));
}

static bool isOfBackward(const Operation &op) {
  return op.kind == Operation::Kind::compute && op.phase == Phase::backward;
}

std::vector<double> issueTimes(const Scenario &scenario, std::size_t count) {
  std::vector<double> times(count);
  double clock = 0;
  for (const Operation &op : scenario.operations) {
    if (isOfBackward(op))
      clock += op.seconds;
    const auto message = static_cast<std::size_t>(op.message);
    if (op.kind == Operation::Kind::issue && message < count)
      times[message] = clock;
  }
  return times;
}

Scenario issuedAt(Scenario scenario, const std::vector<double> &times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i]; });
  std::vector<Operation> operations;
  std::size_t issued = 0, last = 0; // `last` is the place behind the backward pass
  double clock = 0;
  std::vector<Operation> seconds; // second halves follow all other messages
  const auto issueNext = [&] {
    const Operation issue{.kind = Operation::Kind::issue,
                          .phase = Phase::backward,
                          .message = static_cast<int>(order[issued++])};
    operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(last++), issue);
  };
  for (Operation &op : scenario.operations) {
    if (op.kind == Operation::Kind::issue && static_cast<std::size_t>(op.message) < times.size())
      continue;
    if (op.kind == Operation::Kind::issue &&
        scenario.messages[static_cast<std::size_t>(op.message)].half == Half::second) {
      seconds.push_back(op);
      continue;
    }
    operations.push_back(std::move(op));
    if (!isOfBackward(operations.back()))
      continue;
    clock += operations.back().seconds;
    last = operations.size();
    // Sums of the same times in another order differ in their last bits.
    while (issued < order.size() && times[order[issued]] <= clock * (1 + 1e-6))
      issueNext();
  }
  while (issued < order.size())
    issueNext();
  operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(last), seconds.begin(),
                    seconds.end());
  scenario.operations = std::move(operations);
  return scenario;
}

Scheme lossScheme(const Scenario &scenario, bool hasDedicatedServers) {
  auto sumsLoss = [&](const Message &message) {
    return message.channel == 0 && isSum(message.scheme) &&
           !(hasDedicatedServers && message.scheme == Scheme::parameterServer);
  };
  const auto found = std::ranges::find_if(scenario.messages, sumsLoss);
  return found == scenario.messages.end() ? Scheme::ring : found->scheme;
}

void addLoss(Scenario &scenario, Scheme scheme) {
  constexpr std::int64_t bytes = 4 * sizeof(double); // the loss, whether it is finite, two signals
  const int loss = scenario.loss = static_cast<int>(scenario.messages.size());
  scenario.messages.push_back({.name = "loss", .scheme = scheme, .bytes = bytes});
  std::vector<Operation> &operations = scenario.operations;
  operations.insert(operations.begin(), {.kind = Operation::Kind::issue, .message = loss});
  operations.push_back({.kind = Operation::Kind::wait, .phase = Phase::update, .message = loss});
}

void addOverhead(Scenario &scenario, double seconds) {
  if (seconds <= 0)
    return;
  scenario.overhead = static_cast<int>(scenario.operations.size());
  scenario.operations.push_back({.phase = Phase::update, .layer = "overhead", .seconds = seconds});
}

/// The operation of a pass at whose end the clock reaches `time`; null where there is none.
static Operation *endingAt(Scenario &scenario, double time) {
  double clock = 0;
  for (Operation &op : scenario.operations)
    if (op.kind == Operation::Kind::compute && op.phase != Phase::update) {
      clock += op.seconds;
      if (clock >= time * (1 - 1e-9))
        return &op;
    }
  return nullptr;
}

/// The computation after the wait for a message; null where there is none.
static Operation *reconstructionOf(Scenario &scenario, int message) {
  for (std::size_t i = 0; i + 1 < scenario.operations.size(); ++i)
    if (scenario.operations[i].kind == Operation::Kind::wait &&
        scenario.operations[i].message == message)
      return scenario.operations[i + 1].kind == Operation::Kind::compute
                 ? &scenario.operations[i + 1]
                 : nullptr;
  return nullptr;
}

/// The operations that make a gradient which the message gathers and, behind it, its piggybacks.
static std::vector<Operation *> makersOf(Scenario &scenario, const Problem &problem,
                                         const Solution &decisions, std::size_t carrier) {
  std::vector<Operation *> makers{endingAt(scenario, problem.layers[carrier].ready)};
  for (std::size_t piggyback : decisions.piggybacks)
    if (problem.layers[piggyback].carrier == carrier)
      makers.push_back(endingAt(scenario, problem.layers[piggyback].ready));
  return makers;
}

void moveOwnShares(Scenario &scenario, const Problem &problem, const Solution &decisions,
                   int ranks) {
  std::map<Operation *, double> moved; // applied last, as clocks are the problem's
  for (std::size_t i = 0; i < decisions.messages.size(); ++i) {
    const problem::Message &message = decisions.messages[i];
    if (!isGathered(decisions.scheme(problem, message)) || ranks < 2)
      continue;
    const std::size_t layer = message.layers.front();
    Operation *behind = reconstructionOf(scenario, static_cast<int>(i));
    if (!behind)
      continue;
    double share = problem.layers[layer].factorOptions[message.option].reconstruct / (ranks - 1);
    for (Operation *maker : makersOf(scenario, problem, decisions, layer)) {
      const double part = maker ? std::clamp(maker->seconds + moved[maker], 0.0, share) : 0;
      if (part <= 0)
        continue;
      moved[maker] -= part;
      moved[behind] += part;
      share -= part;
    }
  }
  for (auto [op, seconds] : moved)
    op->seconds += seconds;
}

} // namespace syncline::simulate
