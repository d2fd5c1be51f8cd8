// One device and one channel, event by event.
#include "tests/reference/solver/SlowedStep.h"

#include "passes/solver/Replay.h"
#include "tests/reference/solver/ExhaustiveSearch.h"

#include <algorithm>
#include <limits>

namespace syncline::reference {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Sent {
  std::size_t last;       ///< its last layer
  double seconds, lost;   ///< on the channel, and from computation
  double reconstruct = 0; ///< seconds of computation behind it
};

std::vector<Sent> messagesOf(const Problem &problem, std::span<const Choice> choices) {
  std::vector<Sent> messages;
  std::array<std::int64_t, maxMergeClasses> open{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const Choice choice = choices[k];
    if (choice.kind == Choice::Kind::factors) {
      const FactorOption &option = problem.layers[k].factorOptions[choice.index];
      messages.push_back({k, option.seconds, option.lost, option.reconstruct});
    }
    if (choice.kind == Choice::Kind::join || choice.kind == Choice::Kind::bucket)
      open[choice.index] += problem.layers[k].bytes;
    if (choice.kind != Choice::Kind::bucket)
      continue;
    const MergeClass &mergeClass = problem.mergeClasses[choice.index];
    const std::int64_t bytes = std::exchange(open[choice.index], 0);
    const std::size_t i =
        choice.option == Choice::fastest ? mergeClass.bestOption(bytes) : choice.option;
    const SchemeOption &option = mergeClass.options[i];
    messages.push_back(
        {k, option.cost->seconds(bytes), option.lost ? option.lost->seconds(bytes) : 0});
  }
  return messages;
}

/// The device computes the backward pass, a part up to each gradient, then reconstructs.
class Step {
public:
  Step(const Problem &problem, std::vector<Sent> messages)
      : problem(problem), messages(std::move(messages)), left(partSeconds(0)) {}

  double run() {
    while (true) {
      beginWhatCan();
      const double device = left > 0 ? left / speed() : infinity;
      const double channel = isSending ? channelLeft : infinity;
      const double next = std::min(device, channel);
      if (next == infinity)
        return now;
      now += next;
      // Which of the two ends is known, so that rounding decides nothing.
      left = device <= channel ? 0 : std::max(left - next * speed(), 1e-300);
      channelLeft = channel <= device ? 0 : channelLeft - next;
      if (channelLeft <= 0 && isSending) {
        isSending = false;
        ++arrived;
      }
    }
  }

private:
  /// Seconds of the backward pass between gradient `part` - 1 and `part`, or from the last one on.
  double partSeconds(std::size_t part) const {
    const double begin = part == 0 ? 0 : problem.layers[part - 1].ready;
    return (part < problem.layers.size() ? problem.layers[part].ready : problem.computeFree) -
           begin;
  }
  double speed() const {
    return isSending ? 1 - messages[arrived].lost / messages[arrived].seconds : 1;
  }

  /// Begins operations and messages until each either takes time or has to wait.
  void beginWhatCan() {
    for (bool again = true; again;) {
      again = false;
      if (left == 0 && exist <= problem.layers.size()) {
        left = ++exist <= problem.layers.size() ? partSeconds(exist) : 0;
        again = true;
      } else if (left == 0 && rebuilt < arrived) {
        left = messages[rebuilt++].reconstruct;
        again = true;
      }
      if (!isSending && arrived < messages.size() && messages[arrived].last < exist) {
        channelLeft = messages[arrived].seconds;
        isSending = channelLeft > 0;
        arrived += !isSending;
        again = true;
      }
    }
  }

  const Problem &problem;
  std::vector<Sent> messages;
  double now = 0, left,
         channelLeft = 0; ///< seconds, those left of what runs at full speed
  bool isSending = false;
  std::size_t exist = 0; ///< gradients that exist; one more after the backward pass
  std::size_t arrived = 0,
              rebuilt = 0; ///< messages that are over, and of those that are rebuilt
};

} // namespace

double slowedFinish(const Problem &problem, std::span<const Choice> choices) {
  return Step(problem, messagesOf(problem, choices)).run();
}

double leastSlowedFinish(const Problem &problem) {
  double least = infinity;
  forEachSoundChoices(problem, [&](std::span<const Choice> choices) {
    least = std::min(least, slowedFinish(problem, choices));
  });
  return least;
}

} // namespace syncline::reference
