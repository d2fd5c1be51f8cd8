// Simulates one step and reads the result message by message.
#include "passes/simulate/Prediction.h"

#include "passes/problem/Rounding.h"
#include "passes/simulate/MessageRuns.h"

#include <algorithm>
#include <cmath>

namespace syncline::simulate {

namespace {

/// The maximum number of messages' tasks and ranks' operations; each takes about 0.2 us and 50 B.
constexpr double maxWork = 2e6;

/// The number of tasks and operations to simulate. Precondition: scenario.maxTasks is maxWork.
double workOf(const Scenario &scenario) {
  const Machines &machines = scenario.machines;
  const auto operations =
      static_cast<double>(scenario.operations.size() + scenario.messages.size());
  const bool isFolded = MessageRuns::canFold(scenario);
  double work = isFolded ? operations : operations * machines.ranks;
  for (const Message &message : scenario.messages)
    if (message.isStated || machines.ranks == 1 || (isFolded && !isSymmetric(message, machines)))
      work += 1; // the message takes its cost
    else
      work += isFolded ? symmetricTasksOf(message, machines) : tasksOf(message, machines);
  return work;
}

/// Makes one rank stand for all: every rank is as slow as the slowest, every message takes
/// its cost.
void simplify(Scenario &scenario) {
  Machines &machines = scenario.machines;
  if (!machines.slowdown.empty())
    std::ranges::fill(machines.slowdown, *std::ranges::max_element(machines.slowdown));
  machines.nodeNetwork.clear();
  for (Message &message : scenario.messages)
    message.isStated = true;
}

class Reader {
public:
  Reader(const Scenario &scenario, const Simulation &simulation)
      : scenario(scenario), simulation(simulation) {}

  Prediction read() {
    prediction.messages.resize(scenario.messages.size());
    prediction.step = simulation.stepEnd(step) - simulation.stepEnd(step - 1);
    prediction.ranks = simulation.ranks;
    prediction.communicationEnd = simulation.communicationEnd(issuing);
    for (int rank = 0; rank < simulation.ranks; ++rank)
      readRank(rank);
    // Passes count from a rank's own beginning. They can exceed the time between two steps' ends by
    // rounding, or where ranks that begin at different times have not settled after the warm-up
    // steps. The longer time is the safer prediction.
    prediction.step = std::max({prediction.step, prediction.forwardEnd, prediction.backwardEnd});
    for (const PredictedMessage &message : prediction.messages)
      prediction.reconstructionEnd = std::max(prediction.reconstructionEnd, message.reconstructed);
    readWaits(minWaiting());
    readUpdates(simulation.lastRank());
    if (scenario.loss >= 0) // the last message
      prediction.messages.pop_back();
    return std::move(prediction);
  }

private:
  using Kind = Operation::Kind;

  double startOf(int which, int rank) const {
    return simulation.operationCount > 0 ? simulation.operation(which, rank, 0).start : 0;
  }

  void readRank(int rank) {
    const double issued = startOf(issuing, rank), start = startOf(step, rank);
    for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
      const MessageSpan &span = simulation.message(issuing, rank, i);
      PredictedMessage &message = prediction.messages[i];
      message.ready = std::max(message.ready, span.issued - issued);
      message.start = std::max(message.start, span.start - issued);
      message.end = std::max(message.end, span.end - issued);
      message.reconstructed = std::max(message.reconstructed, span.end - issued);
    }
    int waitedFor = -1; // the message whose gradients the next computation reconstructs
    for (std::size_t i = 0; i < scenario.operations.size(); ++i) {
      const Operation &op = scenario.operations[i];
      const Span &span = simulation.operation(step, rank, i);
      if (op.kind == Kind::wait)
        waitedFor = op.message;
      if (op.kind != Kind::compute || static_cast<int>(i) == scenario.overhead)
        continue;
      if (op.phase == Phase::forward)
        prediction.forwardEnd = std::max(prediction.forwardEnd, span.end - start);
      if (op.phase != Phase::update)
        prediction.backwardEnd = std::max(prediction.backwardEnd, span.end - start);
      else if (waitedFor >= 0 && span.end > span.start)
        reconstructed(waitedFor) =
            std::max(reconstructed(waitedFor), span.end - (isCarried[i] ? issued : start));
    }
  }

  double &reconstructed(int message) {
    return prediction.messages[static_cast<std::size_t>(message)].reconstructed;
  }

  double waited(int rank) const {
    double seconds = 0;
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (scenario.operations[i].kind == Kind::wait)
        seconds +=
            simulation.operation(step, rank, i).end - simulation.operation(step, rank, i).start;
    return seconds;
  }

  int minWaiting() const {
    int least = 0;
    for (int rank = 1; rank < simulation.ranks; ++rank)
      if (waited(rank) < waited(least))
        least = rank;
    return least;
  }

  void readWaits(int rank) {
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (const Operation &op = scenario.operations[i]; op.kind == Kind::wait) {
        const Span &span = simulation.operation(step, rank, i);
        prediction.messages[static_cast<std::size_t>(op.message)].exposed = span.end - span.start;
      }
  }

  void readUpdates(int rank) {
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (scenario.operations[i].kind == Kind::update)
        prediction.updates +=
            simulation.operation(step, rank, i).end - simulation.operation(step, rank, i).start;
  }

  const Scenario &scenario;
  const Simulation &simulation;
  const int step = simulation.steps - 1; ///< whose times are read
  /// The step whose messages this one waits for, and whose messages' times are read.
  const int issuing = simulation.isCarrying ? step - 1 : step;
  const std::vector<bool> isCarried = carriedOperations(scenario);
  Prediction prediction;
};

/// Simulates steps until two take equally long, since the first one waits for nothing. Slow ranks
/// may need several steps to hold up all others.
Result<Simulation> settle(Scenario &scenario) {
  constexpr int most = 24;
  for (scenario.steps = 3;; scenario.steps *= 2) {
    Result<Simulation> simulation = runScenario(scenario);
    if (!simulation || scenario.steps >= most)
      return simulation;
    const int last = scenario.steps - 1;
    const double step = simulation->stepEnd(last) - simulation->stepEnd(last - 1),
                 before = simulation->stepEnd(last - 1) - simulation->stepEnd(last - 2);
    if (std::abs(step - before) <= problem::sumRounding * step)
      return simulation;
  }
}

} // namespace

Result<Prediction> predictStep(Scenario scenario) {
  scenario.steps = 1;
  scenario.jitter = 0;
  scenario.maxTasks = maxWork;
  if (Status valid = validate(scenario); !valid)
    return valid;
  const bool isCarrying = std::ranges::count(carriedMessages(scenario), true) > 0;
  if (workOf(scenario) * (isCarrying ? 3 : 1) > maxWork)
    simplify(scenario);
  Result<Simulation> simulation = isCarrying ? settle(scenario) : runScenario(scenario);
  if (!simulation)
    return simulation.status();
  return Reader(scenario, *simulation).read();
}

} // namespace syncline::simulate
