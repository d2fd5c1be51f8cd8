// Walks back from the last event, each time to the event that it waited for.
#include "passes/simulate/Simulation.h"

#include <algorithm>

namespace syncline::simulate {

namespace {

class Walk {
public:
  Walk(const Scenario &scenario, const Simulation &simulation)
      : scenario(scenario), simulation(simulation), issueOf(scenario.messages.size()),
        isCarried(carriedMessages(scenario)) {
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (scenario.operations[i].kind == Operation::Kind::issue)
        issueOf[static_cast<std::size_t>(scenario.operations[i].message)] = i;
  }

  std::vector<CriticalPart> walk() {
    step = simulation.steps - 1;
    rank = simulation.lastRank();
    next = scenario.operations.size();
    while (stepBack())
      ;
    std::ranges::reverse(path);
    return std::move(path);
  }

private:
  /// Steps back to the operation before `next`; returns false at the beginning of the first step.
  bool stepBack() {
    if (next == 0) {
      next = scenario.operations.size();
      return step-- > 0;
    }
    const Operation &op = scenario.operations[--next];
    const Span &span = simulation.operation(step, rank, next);
    switch (op.kind) {
    case Operation::Kind::issue:
      break;
    case Operation::Kind::wait:
      if (span.end > span.start) {
        step -= isCarried[static_cast<std::size_t>(op.message)] ? 1 : 0;
        followMessage(static_cast<std::size_t>(op.message));
      }
      break;
    case Operation::Kind::compute:
      addPart(CriticalPart::Kind::compute, op, op.layer, span);
      break;
    case Operation::Kind::square:
      addPart(CriticalPart::Kind::square, op, nameOf(op), span);
      break;
    case Operation::Kind::update:
      addPart(CriticalPart::Kind::update, op, nameOf(op), span);
      break;
    }
    return true;
  }

  const std::string &nameOf(const Operation &op) const {
    return scenario.messages[static_cast<std::size_t>(op.message)].name;
  }

  void addPart(CriticalPart::Kind kind, const Operation &op, const std::string &name,
               const Span &span) {
    if (span.end > span.start)
      path.push_back({kind, op.phase, name, step, rank, span.start, span.end});
  }

  /// Follows a message back, over messages before it on its channel, to the issue of the first
  /// of them.
  void followMessage(std::size_t message) {
    for (;;) {
      const double end = simulation.message(step, rank, message).end;
      rank = simulation.message(step, rank, message).decider;
      const MessageSpan &span = simulation.message(step, rank, message);
      path.push_back({CriticalPart::Kind::message, Phase::backward, scenario.messages[message].name,
                      step, rank, span.start, end});
      if (span.before < 0 || span.issued >= span.start)
        break;
      step = static_cast<int>(span.before / static_cast<std::int64_t>(simulation.messageCount));
      message = static_cast<std::size_t>(span.before %
                                         static_cast<std::int64_t>(simulation.messageCount));
    }
    next = issueOf[message];
  }

  const Scenario &scenario;
  const Simulation &simulation;
  std::vector<std::size_t> issueOf;
  std::vector<bool> isCarried;
  std::vector<CriticalPart> path;
  int step = 0, rank = 0;
  std::size_t next = 0;
};

} // namespace

std::vector<CriticalPart> criticalPath(const Scenario &scenario, const Simulation &simulation) {
  return Walk(scenario, simulation).walk();
}

} // namespace syncline::simulate
