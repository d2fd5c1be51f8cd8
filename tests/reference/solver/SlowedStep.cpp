// One device and one channel, event by event.
#include "tests/reference/solver/SlowedStep.h"

#include "passes/solver/Replay.h"
#include "tests/reference/solver/ExhaustiveSearch.h"

#include <algorithm>

namespace syncline::reference {

namespace {

struct Sent {
  std::size_t last;       ///< its last layer
  double seconds;         ///< on the channel
  ByClass<double> lost;   ///< from computation, by its class
  double reconstruct = 0; ///< seconds of computation behind it
};

std::vector<Sent> messagesOf(const Problem &problem, std::span<const Choice> choices) {
  const auto lostOf = [&](double all, const ByClass<double> &of) {
    return problem.memoryBound ? of : ByClass<double>{{all, all}};
  };
  std::vector<Sent> messages;
  std::array<std::int64_t, maxMergeClasses> open{};
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const Choice choice = choices[k];
    if (choice.kind == Choice::Kind::factors) {
      const FactorOption &option = problem.layers[k].factorOptions[choice.index];
      messages.push_back(
          {k, option.seconds, lostOf(option.lost, option.lostBy), option.reconstruct});
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
    messages.push_back({k, option.cost->seconds(bytes),
                        lostOf(option.lostSeconds(bytes), option.lostSecondsBy(bytes))});
  }
  return messages;
}

/// The device computes the backward pass, a part up to each gradient and a class of operations
/// after the other, then reconstructs.
class Step {
public:
  Step(const Problem &problem, std::vector<Sent> messages)
      : problem(problem), messages(std::move(messages)) {}

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
  /// When the part of the backward pass ends that makes gradient `part`, or the last one.
  double partEnd(std::size_t part) const {
    return part < problem.layers.size() ? problem.layers[part].ready : problem.computeFree;
  }
  /// Begins what is left of the part, up to another class of operations.
  void beginPiece() {
    double end = partEnd(exist);
    work = WorkClass::products;
    for (const WorkSpan &span : problem.memoryBound.value_or(std::vector<WorkSpan>())) {
      const bool isInside = span.begin <= at && at < span.end;
      work = isInside ? WorkClass::memory : work;
      for (double border : {span.begin, span.end})
        end = border > at ? std::min(end, border) : end;
    }
    left = end - at;
    at = end;
  }
  double speed() const {
    return isSending ? 1 - messages[arrived].lost[work] / messages[arrived].seconds : 1;
  }

  /// Begins operations and messages until each either takes time or has to wait.
  void beginWhatCan() {
    for (bool again = true; again;) {
      again = false;
      if (left == 0 && exist <= problem.layers.size()) {
        if (at < partEnd(exist))
          beginPiece();
        else
          ++exist;
        again = true;
      } else if (left == 0 && rebuilt < arrived) {
        work = WorkClass::products;
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
  double now = 0, left = 0,
         channelLeft = 0;               ///< seconds, those left of what runs at full speed
  double at = 0;                        ///< seconds of the backward pass that are begun
  WorkClass work = WorkClass::products; ///< of what runs
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
