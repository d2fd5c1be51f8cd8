// Leaves out what only the last pass of a step does.
#include "passes/simulate/Accumulation.h"

namespace syncline::simulate {

namespace {

using Kind = Operation::Kind;

class PassMaker {
public:
  PassMaker(const Scenario &step, double share)
      : step(step), share(share), numbers(step.messages.size(), -1), sums(step.messages.size()) {}

  Scenario make() {
    pass = step;
    pass.loss = pass.norm = pass.overhead = -1;
    keepFactors();
    findSums();
    pass.operations.clear();
    for (std::size_t i = 0; i < step.operations.size(); ++i)
      add(i);
    return std::move(pass);
  }

private:
  /// Keeps the messages by factors and numbers them anew.
  void keepFactors() {
    pass.messages.clear();
    for (std::size_t i = 0; i < step.messages.size(); ++i)
      if (isGathered(step.messages[i].scheme)) {
        numbers[i] = static_cast<int>(pass.messages.size());
        pass.messages.push_back(step.messages[i]);
      }
  }

  Scheme schemeOf(const Operation &op) const {
    return step.messages[static_cast<std::size_t>(op.message)].scheme;
  }

  void findSums() {
    for (std::size_t i = 0; i < sums.size(); ++i)
      // A second half has the whole time of an update also where the first half only adds squares.
      if (const Message &message = step.messages[i]; message.half != Half::first)
        sums[message.half == Half::whole ? i : static_cast<std::size_t>(message.firstHalf)] =
            share * message.shardUpdate * static_cast<double>(message.bytes) * step.machines.ranks;
    for (const Operation &op : step.operations)
      if (op.kind == Kind::update && schemeOf(op) != Scheme::reduceScatter)
        sums[static_cast<std::size_t>(op.message)] = share * op.seconds;
  }

  void add(std::size_t number) {
    Operation op = step.operations[number];
    const int kept = op.message < 0 ? -1 : numbers[static_cast<std::size_t>(op.message)];
    switch (op.kind) {
    case Kind::compute:
      if (static_cast<int>(number) == step.overhead)
        pass.overhead = static_cast<int>(pass.operations.size());
      pass.operations.push_back(std::move(op));
      return;
    case Kind::issue:
      if (kept < 0)
        return addSum(op);
      break;
    case Kind::wait:
      if (kept < 0)
        return;
      break;
    case Kind::square:
      return;
    case Kind::update:
      if (kept >= 0)
        addSum(op);
      return;
    }
    op.message = kept;
    pass.operations.push_back(std::move(op));
  }

  void addSum(const Operation &at) {
    const auto message = static_cast<std::size_t>(at.message);
    if (sums[message] > 0)
      pass.operations.push_back(
          {.phase = at.phase, .layer = step.messages[message].name, .seconds = sums[message]});
  }

  const Scenario &step;
  const double share;
  std::vector<int> numbers; ///< of the messages in the pass; -1 where they do not travel
  std::vector<double> sums; ///< by message: seconds to add its gradients up
  Scenario pass;
};

} // namespace

Scenario accumulatingPass(const Scenario &scenario, double share) {
  return PassMaker(scenario, share).make();
}

} // namespace syncline::simulate
