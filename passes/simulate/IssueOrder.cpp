// Issues each message as soon as it is ready, then waits and updates in order.
#include "passes/simulate/IssueOrder.h"

#include <algorithm>

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

std::vector<Operation> operationsOf(const Problem &problem, double forwardEnd,
                                    const std::vector<std::string> &names) {
  std::vector<Operation> operations{{.layer = "forward", .seconds = forwardEnd}};
  double clock = forwardEnd;
  auto until = [&](double time, const std::string &name) {
    if (time > clock)
      operations.push_back({.phase = Phase::backward, .layer = name, .seconds = time - clock});
    clock = std::max(clock, time);
  };
  for (std::size_t k = 0; k < problem.layers.size(); ++k)
    until(problem.layers[k].ready, names[k]);
  until(problem.computeFree, "backward");
  return operations;
}

namespace {

class Issuer {
public:
  Issuer(const Problem &problem, const Solution &decisions, const std::vector<std::string> &names,
         const Updates &updates)
      : problem(problem), decisions(decisions), names(names), updates(updates) {}

  Scenario issue(std::vector<Operation> operations) {
    addMessages();
    double clock = 0;
    for (Operation &op : operations) {
      clock += op.seconds;
      const bool mayIssue = op.phase == Phase::backward;
      scenario.operations.push_back(std::move(op));
      // Sums of the same times in another order differ in their last bits.
      while (mayIssue && issued < ready.size() && ready[issued] <= clock * (1 + 1e-9))
        issueNext();
    }
    while (issued < ready.size())
      issueNext();
    addTail();
    return std::move(scenario);
  }

private:
  void addMessages() {
    for (const problem::Message &message : decisions.messages) {
      std::vector<std::string> members;
      std::int64_t bytes = 0;
      double last = 0, weight = 0;
      for (std::size_t layer : message.layers) {
        members.push_back(names[layer]);
        bytes += problem.layers[layer].bytes;
        weight += weightOf(layer);
        last = std::max(last, problem.layers[layer].ready);
      }
      weights.push_back(weight);
      if (message.isFactors)
        addPiggybacks(message.layers.front(), members);
      const Scheme scheme = decisions.scheme(problem, message);
      if (scheme == Scheme::factors)
        bytes = factorOptionOf(message)->factorBytes;
      scenario.messages.push_back({.name = summary(members), .scheme = scheme, .bytes = bytes});
      ready.push_back(last);
    }
  }

  void addPiggybacks(std::size_t carrier, std::vector<std::string> &members) {
    for (std::size_t piggyback : decisions.piggybacks)
      if (problem.layers[piggyback].carrier == carrier) {
        members.push_back(names[piggyback]);
        weights.back() += weightOf(piggyback);
      }
  }

  const problem::FactorOption *factorOptionOf(const problem::Message &message) const {
    return message.isFactors ? &problem.layers[message.layers.front()].factorOptions[message.option]
                             : nullptr;
  }

  void issueNext() {
    scenario.operations.push_back({.kind = Operation::Kind::issue,
                                   .phase = Phase::backward,
                                   .message = static_cast<int>(issued++)});
  }

  double weightOf(std::size_t layer) const {
    return updates.weights.empty() ? static_cast<double>(problem.layers[layer].bytes)
                                   : updates.weights[layer];
  }

  bool updatesItself(std::size_t message) const {
    return scenario.messages[message].scheme == Scheme::reduceScatter;
  }

  void addTail() {
    double updated = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      updated += updatesItself(i) ? 0 : weights[i];
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const int number = static_cast<int>(i);
      scenario.operations.push_back(
          {.kind = Operation::Kind::wait, .phase = Phase::update, .message = number});
      const problem::FactorOption *factorOption = factorOptionOf(decisions.messages[i]);
      if (factorOption && factorOption->reconstruct > 0)
        scenario.operations.push_back({.phase = Phase::update,
                                       .layer = scenario.messages[i].name,
                                       .seconds = factorOption->reconstruct});
      if (!updatesItself(i))
        scenario.operations.push_back(
            {.kind = Operation::Kind::update,
             .phase = Phase::update,
             .seconds = updated > 0 ? updates.seconds * weights[i] / updated : 0,
             .message = number});
    }
  }

  const Problem &problem;
  const Solution &decisions;
  const std::vector<std::string> &names;
  const Updates &updates;
  Scenario scenario;
  std::vector<double> ready, weights; ///< of each message
  std::size_t issued = 0;
};

} // namespace

Scenario issueMessages(std::vector<Operation> operations, const Problem &problem,
                       const Solution &decisions, const std::vector<std::string> &names,
                       const Updates &updates) {
  return Issuer(problem, decisions, names, updates).issue(std::move(operations));
}

Scheme lossScheme(const Scenario &scenario, bool hasDedicatedServers) {
  auto sumsLoss = [&](const Message &message) {
    return message.channel == 0 && message.scheme != Scheme::reduceScatter &&
           message.scheme != Scheme::factors &&
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

void moveOwnShares(Scenario &scenario, const Problem &problem, const Solution &decisions,
                   int ranks) {
  std::vector<std::pair<Operation *, double>> shares; // applied last, as clocks are the problem's
  for (std::size_t i = 0; i < decisions.messages.size(); ++i) {
    const problem::Message &message = decisions.messages[i];
    if (decisions.scheme(problem, message) != Scheme::factors || ranks < 2)
      continue;
    const problem::Layer &layer = problem.layers[message.layers.front()];
    Operation *before = endingAt(scenario, layer.ready);
    Operation *behind = reconstructionOf(scenario, static_cast<int>(i));
    if (!before || !behind)
      continue;
    const double share = layer.factorOptions[message.option].reconstruct / (ranks - 1);
    shares.emplace_back(before, -share);
    shares.emplace_back(behind, share);
  }
  for (auto [op, seconds] : shares)
    op->seconds = std::max(op->seconds + seconds, 0.0);
}

} // namespace syncline::simulate
