// Simulates steps and reads the result message by message.
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

/// Reads the means of a simulation's last steps.
class Reader {
public:
  Reader(const Scenario &scenario, const Simulation &simulation, int count)
      : scenario(scenario), simulation(simulation), count(count),
        forward(static_cast<std::size_t>(simulation.ranks)), backward(forward) {}

  Prediction read() {
    mean.messages.resize(scenario.messages.size());
    mean.ranks = simulation.ranks;
    for (step = simulation.steps - count; step < simulation.steps; ++step)
      readStep();
    // A rank's passes count from its own beginning, so their means are no longer than its steps',
    // but for rounding.
    mean.forwardEnd = *std::ranges::max_element(forward);
    mean.backwardEnd = *std::ranges::max_element(backward);
    mean.step = std::max({longestStep(), mean.forwardEnd, mean.backwardEnd});
    if (scenario.loss >= 0) // the last message
      mean.messages.pop_back();
    return std::move(mean);
  }

private:
  using Kind = Operation::Kind;

  /// The step whose messages this one waits for, and whose messages' times are read.
  int issuing() const { return simulation.isCarrying ? step - 1 : step; }

  double startOf(int which, int rank) const {
    return simulation.operationCount > 0 ? simulation.operation(which, rank, 0).start : 0;
  }

  double endOf(int which, int rank) const {
    return which >= 0 && simulation.operationCount > 0
               ? simulation.operation(which, rank, simulation.operationCount - 1).end
               : 0;
  }

  /// The mean seconds of a step on the rank whose steps are longest. All ranks take equally long
  /// once they have settled.
  double longestStep() const {
    const int last = simulation.steps - 1;
    double longest = 0;
    for (int rank = 0; rank < simulation.ranks; ++rank)
      longest = std::max(longest, endOf(last, rank) - endOf(last - count, rank));
    return longest / count;
  }

  void readStep() {
    one = {};
    one.messages.resize(scenario.messages.size());
    for (int rank = 0; rank < simulation.ranks; ++rank)
      readRank(rank);
    readWaits(minWaiting());
    readUpdates(simulation.lastRank());
    for (const PredictedMessage &message : one.messages)
      one.reconstructionEnd = std::max(one.reconstructionEnd, message.reconstructed);
    one.communicationEnd = simulation.communicationEnd(issuing());
    addStep();
  }

  void readRank(int rank) {
    const double issued = startOf(issuing(), rank), start = startOf(step, rank);
    for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
      const MessageSpan &span = simulation.message(issuing(), rank, i);
      PredictedMessage &message = one.messages[i];
      message.ready = std::max(message.ready, span.issued - issued);
      message.start = std::max(message.start, span.start - issued);
      message.end = std::max(message.end, span.end - issued);
      message.reconstructed = std::max(message.reconstructed, span.end - issued);
    }
    double forwardEnd = 0, backwardEnd = 0;
    int waitedFor = -1; // the message whose gradients the next computation reconstructs
    for (std::size_t i = 0; i < scenario.operations.size(); ++i) {
      const Operation &op = scenario.operations[i];
      const Span &span = simulation.operation(step, rank, i);
      if (op.kind == Kind::wait)
        waitedFor = op.message;
      if (op.kind != Kind::compute || static_cast<int>(i) == scenario.overhead)
        continue;
      if (op.phase == Phase::forward)
        forwardEnd = std::max(forwardEnd, span.end - start);
      if (op.phase != Phase::update)
        backwardEnd = std::max(backwardEnd, span.end - start);
      else if (waitedFor >= 0 && span.end > span.start)
        reconstructed(waitedFor) =
            std::max(reconstructed(waitedFor), span.end - (isCarried[i] ? issued : start));
    }
    forward[static_cast<std::size_t>(rank)] += forwardEnd / count;
    backward[static_cast<std::size_t>(rank)] += backwardEnd / count;
  }

  /// Adds the step to the means.
  void addStep() {
    for (double Prediction::*time :
         {&Prediction::communicationEnd, &Prediction::reconstructionEnd, &Prediction::updates})
      mean.*time += one.*time / count;
    for (std::size_t i = 0; i < one.messages.size(); ++i)
      for (double PredictedMessage::*time :
           {&PredictedMessage::ready, &PredictedMessage::start, &PredictedMessage::end,
            &PredictedMessage::reconstructed, &PredictedMessage::exposed})
        mean.messages[i].*time += one.messages[i].*time / count;
  }

  double &reconstructed(int message) {
    return one.messages[static_cast<std::size_t>(message)].reconstructed;
  }

  int minWaiting() const {
    int least = 0;
    for (int rank = 1; rank < simulation.ranks; ++rank)
      if (simulation.waited(scenario, step, rank) < simulation.waited(scenario, step, least))
        least = rank;
    return least;
  }

  void readWaits(int rank) {
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (const Operation &op = scenario.operations[i]; op.kind == Kind::wait)
        one.messages[static_cast<std::size_t>(op.message)].exposed =
            simulation.secondsOf(step, rank, i);
  }

  void readUpdates(int rank) {
    for (std::size_t i = 0; i < scenario.operations.size(); ++i)
      if (scenario.operations[i].kind == Kind::update)
        one.updates += simulation.secondsOf(step, rank, i);
  }

  const Scenario &scenario;
  const Simulation &simulation;
  const int count; ///< of steps that are read
  const std::vector<bool> isCarried = carriedOperations(scenario);
  int step = 0;                          ///< which is being read
  std::vector<double> forward, backward; ///< mean ends of the passes, by rank
  Prediction one, mean;                  ///< times of `step`, and of those before in the mean
};

/// A simulation, and how many of its last steps count.
struct Run {
  Simulation simulation;
  int counted;
};

Result<Run> run(const Scenario &scenario, int counted) {
  SYNCLINE_TRY_GET(simulation, runScenario(scenario));
  return Run{std::move(*simulation), counted};
}

/// Simulates steps until two take equally long, since the first one waits for nothing. Slow ranks
/// may need several steps to hold up all others. Where the last two differ, half of all count.
Result<Run> settle(Scenario &scenario) {
  constexpr int most = 24;
  for (scenario.steps = 3;; scenario.steps *= 2) {
    SYNCLINE_TRY_GET(result, run(scenario, 1));
    const Simulation &simulation = result->simulation;
    const int last = scenario.steps - 1;
    const double step = simulation.stepEnd(last) - simulation.stepEnd(last - 1),
                 before = simulation.stepEnd(last - 1) - simulation.stepEnd(last - 2);
    if (std::abs(step - before) <= problem::sumRounding * step)
      return result;
    if (scenario.steps >= most) {
      result->counted = most / 2;
      return result;
    }
  }
}

/// The steps to count behind the warm-up so that they show how operations scatter: whole rounds of
/// the recorded steps, or as many as are not too much work; 0 where these are too few.
int replayedSteps(const Scenario &scenario) {
  constexpr int enough = 64, leastSteps = 16;
  const int recorded = scenario.scatter.steps();
  if (recorded == 0)
    return 0;
  const int wanted = (enough + recorded - 1) / recorded * recorded;
  const double possible = maxWork / workOf(scenario) - scenario.warmUp;
  const int steps = possible < wanted ? static_cast<int>(possible) : wanted;
  return steps >= leastSteps ? steps : 0;
}

/// Simulates as many steps as the scenario needs.
Result<Run> runEnough(Scenario &scenario) {
  const bool isCarrying = std::ranges::count(carriedMessages(scenario), true) > 0;
  scenario.replaysScatter = true;
  scenario.warmUp = isCarrying ? carriedWarmUp : 0;
  if (const int steps = replayedSteps(scenario)) {
    scenario.steps = scenario.warmUp + steps;
    return run(scenario, steps);
  }
  scenario.replaysScatter = false;
  scenario.warmUp = 0;
  if (workOf(scenario) * (isCarrying ? 3 : 1) > maxWork)
    simplify(scenario);
  return isCarrying ? settle(scenario) : run(scenario, 1);
}

} // namespace

Result<Prediction> predictStep(Scenario scenario) {
  scenario.steps = 1;
  scenario.warmUp = 0;
  scenario.jitter = 0;
  scenario.maxTasks = maxWork;
  SYNCLINE_TRY(validate(scenario));
  SYNCLINE_TRY_GET(result, runEnough(scenario));
  return Reader(scenario, result->simulation, result->counted).read();
}

} // namespace syncline::simulate
