// Times messages on one channel and reconstruction on one device, which messages may slow.
#include "passes/solver/Replay.h"

#include "passes/problem/Interference.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Closes buckets and sends factors in the order of the layers.
class Clock {
public:
  explicit Clock(const Problem &problem)
      : problem(problem), clock(problem), computed(problem.computeFree) {}

  void decide(std::size_t k, Choice choice) {
    switch (choice.kind) {
    case Choice::Kind::join:
      add(k, choice.index);
      return;
    case Choice::Kind::bucket:
      add(k, choice.index);
      sendBucket(choice.index, choice.option);
      return;
    case Choice::Kind::factors:
      sendFactors(k, choice.index);
      return;
    case Choice::Kind::piggyback:
      plan.piggybacks.push_back(k);
      return;
    }
  }

  Solution finish() {
    for (const auto &[message, done] : reconstructed)
      plan.messages[message].reconstructed = clock.at(done);
    plan.computeEnd = clock.at(computed);
    plan.finish = std::max(plan.communicationEnd, plan.computeEnd);
    return std::move(plan);
  }

private:
  void add(std::size_t k, std::size_t mergeClass) {
    open[mergeClass].layers.push_back(k);
    open[mergeClass].bytes += problem.layers[k].bytes;
  }

  void send(Message message, double seconds) {
    message.ready = clock.at(problem.layers[message.layers.back()].ready);
    message.start = std::max(plan.communicationEnd, message.ready);
    message.end = message.start + seconds;
    message.reconstructed = message.end;
    clock.add(message.start, message.end, lossOf(problem, message));
    plan.communicationEnd = message.end;
    plan.messages.push_back(std::move(message));
  }

  void sendBucket(std::size_t mergeClass, std::uint8_t option) {
    Message message = std::move(open[mergeClass]);
    open[mergeClass] = {};
    message.mergeClass = mergeClass;
    message.option = option == Choice::fastest
                         ? problem.mergeClasses[mergeClass].bestOption(message.bytes)
                         : option;
    double seconds =
        problem.mergeClasses[mergeClass].options[message.option].cost->seconds(message.bytes);
    send(std::move(message), seconds);
  }

  void sendFactors(std::size_t k, std::size_t index) {
    const FactorOption &factorOption = problem.layers[k].factorOptions[index];
    Message message;
    message.layers = {k};
    message.isFactors = true;
    message.option = index;
    message.bytes = problem.layers[k].bytes;
    send(std::move(message), factorOption.seconds);
    if (factorOption.reconstruct > 0) {
      computed =
          std::max(computed, plan.communicationEnd - clock.lost()) + factorOption.reconstruct;
      reconstructed.emplace_back(plan.messages.size() - 1, computed);
    }
  }

  const Problem &problem;
  std::array<Message, maxMergeClasses> open;
  ComputationClock clock;
  double computed; ///< seconds of computation until the device is free, were it never slowed
  /// Messages whose gradients are reconstructed, and the seconds of computation until then.
  std::vector<std::pair<std::size_t, double>> reconstructed;
  Solution plan;
};

} // namespace

Solution replay(const Problem &problem, std::span<const Choice> choices) {
  Clock clock(problem);
  for (std::size_t k = 0; k < choices.size(); ++k)
    clock.decide(k, choices[k]);
  return clock.finish();
}

bool choicesAreSound(const Problem &problem, std::span<const Choice> choices) {
  if (choices.size() != problem.layers.size())
    return false;
  std::array<std::int64_t, maxMergeClasses> open{};
  std::array<std::int64_t, maxMergeClasses> held{};
  std::array<bool, maxMergeClasses> pending{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const Layer &layer = problem.layers[k];
    Choice choice = choices[k];
    switch (choice.kind) {
    case Choice::Kind::join:
    case Choice::Kind::bucket: {
      std::size_t mergeClass = choice.index;
      if (mergeClass >= problem.mergeClasses.size() || !problem.allows(k, mergeClass) ||
          (choice.option != Choice::fastest &&
           choice.option >= problem.mergeClasses[mergeClass].options.size()))
        return false;
      open[mergeClass] += layer.bytes;
      held[mergeClass] += layer.bytes;
      if (open[mergeClass] > problem.mergeClasses[mergeClass].largestMessage ||
          held[mergeClass] > problem.mergeClasses[mergeClass].capacity)
        return false;
      pending[mergeClass] = choice.kind == Choice::Kind::join;
      if (!pending[mergeClass])
        open[mergeClass] = 0;
      break;
    }
    case Choice::Kind::factors:
      if (choice.index >= layer.factorOptions.size())
        return false;
      break;
    case Choice::Kind::piggyback:
      if (!layer.carrier || choices[*layer.carrier].kind != Choice::Kind::factors)
        return false;
      break;
    }
  }
  return std::ranges::none_of(pending, [](bool isOpen) { return isOpen; });
}

std::vector<Choice> choicesOf(const Problem &problem, const Solution &plan) {
  std::vector<Choice> choices = layerChoices(problem, plan);
  for (const Message &message : plan.messages)
    if (!message.isFactors) {
      for (std::size_t k : message.layers)
        choices[k].kind = Choice::Kind::join;
      Choice &last = choices[message.layers.back()];
      last.kind = Choice::Kind::bucket;
      last.option = static_cast<std::uint8_t>(message.option);
    }
  return choices;
}

std::vector<Choice> choicesOfGroups(const Problem &problem, std::size_t mergeClass,
                                    std::span<const std::size_t> ends) {
  std::vector<Choice> choices(problem.layers.size(),
                              {Choice::Kind::join, static_cast<std::uint8_t>(mergeClass)});
  for (std::size_t end : ends)
    choices[end - 1].kind = Choice::Kind::bucket;
  return choices;
}

} // namespace syncline::solver
