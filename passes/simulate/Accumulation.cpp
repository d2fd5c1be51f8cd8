// Leaves out what only the last micro-batch of a step does, and puts micro-batches one behind
// the other.
#include "passes/simulate/Accumulation.h"

#include <algorithm>

namespace syncline::simulate {

namespace {

using Kind = Operation::Kind;

/// Seconds in which a rank adds up the gradients of each message.
std::vector<double> addingSeconds(const Scenario &step, double share) {
  std::vector<double> sums(step.messages.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    // A second half has the whole time of an update also where the first half only adds squares.
    if (const Message &message = step.messages[i]; message.half != Half::first)
      sums[message.half == Half::whole ? i : static_cast<std::size_t>(message.firstHalf)] =
          share * message.shardUpdate * static_cast<double>(message.bytes) * step.machines.ranks;
  for (const Operation &op : step.operations)
    if (const auto message = static_cast<std::size_t>(op.message);
        op.kind == Kind::update && step.messages[message].scheme != Scheme::reduceScatter)
      sums[message] = share * op.seconds;
  return sums;
}

/// Appends the operation that adds up a message's gradients, where that takes time. It counts as an
/// update, because its time does not depend on a rank's samples.
void appendSum(Scenario &to, const Message &message, double seconds) {
  if (seconds > 0)
    to.operations.push_back({.phase = Phase::update, .layer = message.name, .seconds = seconds});
}

class MicroBatchMaker {
public:
  MicroBatchMaker(const Scenario &step, double share)
      : step(step), numbers(step.messages.size(), -1), sums(addingSeconds(step, share)) {}

  Scenario make() {
    microBatch = step;
    microBatch.loss = microBatch.norm = microBatch.overhead = -1;
    keepFactors();
    microBatch.operations.clear();
    for (std::size_t i = 0; i < step.operations.size(); ++i)
      add(i);
    return std::move(microBatch);
  }

private:
  /// Keeps the messages by factors and numbers them anew.
  void keepFactors() {
    microBatch.messages.clear();
    for (std::size_t i = 0; i < step.messages.size(); ++i)
      if (isGathered(step.messages[i].scheme)) {
        numbers[i] = static_cast<int>(microBatch.messages.size());
        microBatch.messages.push_back(step.messages[i]);
      }
  }

  void add(std::size_t number) {
    Operation op = step.operations[number];
    const int kept = op.message < 0 ? -1 : numbers[static_cast<std::size_t>(op.message)];
    switch (op.kind) {
    case Kind::compute:
      if (static_cast<int>(number) == step.overhead)
        microBatch.overhead = static_cast<int>(microBatch.operations.size());
      microBatch.operations.push_back(std::move(op));
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
    microBatch.operations.push_back(std::move(op));
  }

  void addSum(const Operation &of) {
    const auto message = static_cast<std::size_t>(of.message);
    appendSum(microBatch, step.messages[message], sums[message]);
  }

  const Scenario &step;
  std::vector<int> numbers; ///< of the messages in the micro-batch; -1 where they do not travel
  const std::vector<double> sums; ///< by message
  Scenario microBatch;
};

class StepMaker {
public:
  StepMaker(const Scenario &step, std::int64_t microBatches, double share)
      : step(step), microBatches(microBatches), sums(addingSeconds(step, share)),
        issues(issuesOf(step)) {}

  Scenario make() {
    whole = step;
    whole.operations.clear();
    if (step.loss >= 0) {
      whole.messages.pop_back(); // it stays the last one
      const auto factors = std::ranges::count_if(
          step.messages, [](const Message &message) { return isGathered(message.scheme); });
      whole.loss =
          static_cast<int>(whole.messages.size()) + static_cast<int>((microBatches - 1) * factors);
    }
    for (microBatch = 0; microBatch < microBatches; ++microBatch) {
      std::swap(previous, current);
      current = isLast() ? std::vector<int>() : addFactors();
      for (std::size_t i = 0; i < step.operations.size(); ++i)
        add(i);
    }
    if (step.loss >= 0)
      whole.messages.push_back(step.messages.back());
    return std::move(whole);
  }

private:
  bool isLast() const { return microBatch + 1 == microBatches; }

  /// The number of the operation that hands over a message, or its first half; by message.
  static std::vector<std::size_t> issuesOf(const Scenario &step) {
    std::vector<std::size_t> issues(step.messages.size());
    for (std::size_t i = 0; i < step.operations.size(); ++i)
      if (const Operation &op = step.operations[i]; op.kind == Kind::issue)
        issues[static_cast<std::size_t>(op.message)] = i;
    for (std::size_t i = 0; i < issues.size(); ++i)
      if (step.messages[i].half == Half::second)
        issues[i] = issues[static_cast<std::size_t>(step.messages[i].firstHalf)];
    return issues;
  }

  /// Adds the messages of a micro-batch that is not the last one. Returns their numbers, by message
  /// of the step; -1 where none travels.
  std::vector<int> addFactors() {
    std::vector<int> numbers(step.messages.size(), -1);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (isGathered(step.messages[i].scheme)) {
        numbers[i] = static_cast<int>(whole.messages.size());
        whole.messages.push_back(step.messages[i]);
        whole.messages.back().inLastMicroBatch = static_cast<int>(i);
      }
    return numbers;
  }

  /// The number of a message by factors that a micro-batch hands over.
  static int numberIn(const std::vector<int> &numbers, int message) {
    return numbers.empty() ? message : numbers[static_cast<std::size_t>(message)];
  }

  void add(std::size_t number) {
    Operation op = step.operations[number];
    if (op.kind == Kind::compute) {
      if (static_cast<int>(number) == step.overhead)
        whole.overhead = static_cast<int>(whole.operations.size());
      whole.operations.push_back(std::move(op));
      return;
    }
    if (op.message == step.loss)
      return addLoss(op);
    const auto message = static_cast<std::size_t>(op.message);
    // What stands before a message's issue belongs to the message of the step before.
    const bool isCarried = number < issues[message];
    const bool isOnce = isCarried ? microBatch == 0 : isLast();
    const bool gathers = isGathered(step.messages[message].scheme);
    const bool moves = op.kind == Kind::issue || op.kind == Kind::wait;
    if (!isOnce && !(gathers && moves)) {
      if (op.kind == (gathers ? Kind::update : Kind::issue))
        appendSum(whole, step.messages[message], sums[message]);
      return;
    }
    if (gathers && moves)
      op.message = numberIn(isCarried ? previous : current, op.message);
    whole.operations.push_back(std::move(op));
  }

  /// The loss of the step before travels from the beginning of the first micro-batch on.
  void addLoss(Operation op) {
    if (op.kind == Kind::issue ? microBatch > 0 : !isLast())
      return;
    op.message = whole.loss;
    whole.operations.push_back(std::move(op));
  }

  const Scenario &step;
  const std::int64_t microBatches;
  const std::vector<double> sums;        ///< by message
  const std::vector<std::size_t> issues; ///< by message
  std::int64_t microBatch = 0;
  /// The numbers of the messages by factors in the micro-batch before and in this one; empty for
  /// those of the last micro-batch.
  std::vector<int> previous, current;
  Scenario whole;
};

} // namespace

Scenario accumulatingMicroBatch(const Scenario &scenario, double share) {
  return MicroBatchMaker(scenario, share).make();
}

Scenario wholeStep(const Scenario &scenario, std::int64_t microBatches, double share) {
  return StepMaker(scenario, microBatches, share).make();
}

} // namespace syncline::simulate
