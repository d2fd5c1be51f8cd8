// Plays messages on one channel and rebuilding on one device, one after the other.
#include "passes/solver/Replay.h"

#include <algorithm>

namespace syncline::solver {

namespace {

/// Closes buckets and sends solos in the order in which layers ask for it.
class Clock {
public:
  explicit Clock(const JointProblem &problem) : problem(problem) {
    plan.computeEnd = problem.computeFree;
  }

  void decide(std::size_t k, Choice choice) {
    switch (choice.kind) {
    case Choice::Kind::join:
      add(k, choice.index);
      return;
    case Choice::Kind::close:
      add(k, choice.index);
      sendBucket(choice.index, choice.option);
      return;
    case Choice::Kind::solo:
      sendSolo(k, choice.index);
      return;
    case Choice::Kind::ride:
      plan.riders.push_back(k);
      return;
    }
  }

  JointPlan finish() {
    plan.finish = std::max(plan.communicationEnd, plan.computeEnd);
    return std::move(plan);
  }

private:
  void add(std::size_t k, std::size_t lane) {
    open[lane].layers.push_back(k);
    open[lane].bytes += problem.layers[k].bytes;
  }

  void send(JointMessage message, double seconds) {
    message.ready = problem.layers[message.layers.back()].ready;
    message.start = std::max(plan.communicationEnd, message.ready);
    message.end = message.start + seconds;
    message.rebuilt = message.end;
    plan.communicationEnd = message.end;
    plan.messages.push_back(std::move(message));
  }

  void sendBucket(std::size_t lane, std::uint8_t option) {
    JointMessage message = std::move(open[lane]);
    open[lane] = {};
    message.lane = lane;
    message.option =
        option == Choice::fastest ? problem.lanes[lane].bestOption(message.bytes) : option;
    double seconds = problem.lanes[lane].options[message.option].cost->seconds(message.bytes);
    send(std::move(message), seconds);
  }

  void sendSolo(std::size_t k, std::size_t index) {
    const SoloOption &solo = problem.layers[k].solos[index];
    JointMessage message;
    message.layers = {k};
    message.isSolo = true;
    message.option = index;
    message.bytes = problem.layers[k].bytes;
    send(std::move(message), solo.seconds);
    if (solo.rebuild > 0) {
      plan.computeEnd = std::max(plan.computeEnd, plan.communicationEnd) + solo.rebuild;
      plan.messages.back().rebuilt = plan.computeEnd;
    }
  }

  const JointProblem &problem;
  std::array<JointMessage, maxLanes> open;
  JointPlan plan;
};

} // namespace

JointPlan replay(const JointProblem &problem, std::span<const Choice> choices) {
  Clock clock(problem);
  for (std::size_t k = 0; k < choices.size(); ++k)
    clock.decide(k, choices[k]);
  return clock.finish();
}

bool choicesAreSound(const JointProblem &problem, std::span<const Choice> choices) {
  if (choices.size() != problem.layers.size())
    return false;
  std::array<std::int64_t, maxLanes> open{};
  std::array<std::int64_t, maxLanes> held{};
  std::array<bool, maxLanes> pending{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const JointLayer &layer = problem.layers[k];
    Choice choice = choices[k];
    switch (choice.kind) {
    case Choice::Kind::join:
    case Choice::Kind::close: {
      std::size_t lane = choice.index;
      if (lane >= problem.lanes.size() || !problem.allows(k, lane) ||
          (choice.option != Choice::fastest && choice.option >= problem.lanes[lane].options.size()))
        return false;
      open[lane] += layer.bytes;
      held[lane] += layer.bytes;
      if (open[lane] > problem.lanes[lane].largestMessage ||
          held[lane] > problem.lanes[lane].capacity)
        return false;
      pending[lane] = choice.kind == Choice::Kind::join;
      if (!pending[lane])
        open[lane] = 0;
      break;
    }
    case Choice::Kind::solo:
      if (choice.index >= layer.solos.size())
        return false;
      break;
    case Choice::Kind::ride:
      if (!layer.carrier || choices[*layer.carrier].kind != Choice::Kind::solo)
        return false;
      break;
    }
  }
  return std::ranges::none_of(pending, [](bool isOpen) { return isOpen; });
}

std::vector<Choice> choicesOf(const JointProblem &problem, const JointPlan &plan) {
  std::vector<Choice> choices(problem.layers.size());
  for (const JointMessage &message : plan.messages) {
    if (message.isSolo) {
      choices[message.layers.front()] = {Choice::Kind::solo,
                                         static_cast<std::uint8_t>(message.option)};
      continue;
    }
    auto lane = static_cast<std::uint8_t>(message.lane);
    for (std::size_t k : message.layers)
      choices[k] = {Choice::Kind::join, lane};
    choices[message.layers.back()] = {Choice::Kind::close, lane,
                                      static_cast<std::uint8_t>(message.option)};
  }
  for (std::size_t k : plan.riders)
    choices[k] = {Choice::Kind::ride, 0};
  return choices;
}

std::vector<Choice> choicesOfGroups(const JointProblem &problem, std::size_t lane,
                                    std::span<const std::size_t> ends) {
  std::vector<Choice> choices(problem.layers.size(),
                              {Choice::Kind::join, static_cast<std::uint8_t>(lane)});
  for (std::size_t end : ends)
    choices[end - 1].kind = Choice::Kind::close;
  return choices;
}

} // namespace syncline::solver
