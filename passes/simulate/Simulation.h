// Simulation: a scenario's steps in virtual time, and the results that they give.
#pragma once

#include "passes/simulate/Scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::simulate {

struct Span {
  double start = 0, end = 0; ///< seconds from the beginning of the first step
};

/// The times of one message on one rank, in one step.
struct MessageSpan {
  double issued = 0;        ///< when it was handed to its channel
  double start = 0;         ///< when it got the channel
  double end = 0;           ///< when it was over for this rank
  int decider = 0;          ///< the rank whose start decided the end
  std::int64_t before = -1; ///< message before it on the channel: step * messages + message
};

/// The use of one resource in all steps.
struct ResourceUse {
  std::string kind;    ///< "compute", "channel 0", "network out", ...
  std::string place;   ///< "rank 0", "node 3"
  double busy = 0;     ///< seconds
  double bytes = 0;    ///< bytes carried; 0 for a resource that carries none
  double capacity = 0; ///< bytes per second; 0 for a resource that carries none
};

struct Simulation {
  int ranks = 1;         ///< number of simulated ranks; 1 where isFolded
  bool isFolded = false; ///< whether one rank stands for all
  int steps = 1;
  int warmUp = 0;                    ///< the first of the steps, which the means leave out
  bool isCarrying = false;           ///< whether steps wait for messages of the step before
  std::vector<bool> isWhole;         ///< by message: too long to expand, so that it took its cost
  std::vector<Span> operations;      ///< [step][rank][operation]
  std::vector<MessageSpan> messages; ///< [step][rank][message]
  std::vector<ResourceUse> resources;

  std::size_t operationCount = 0, messageCount = 0; ///< of one step and rank

  const Span &operation(int step, int rank, std::size_t op) const {
    return operations[(static_cast<std::size_t>(step) * ranks + rank) * operationCount + op];
  }
  const MessageSpan &message(int step, int rank, std::size_t message) const {
    return messages[(static_cast<std::size_t>(step) * ranks + rank) * messageCount + message];
  }
  /// Seconds that the operation, or the wait, took.
  double secondsOf(int step, int rank, std::size_t op) const {
    return operation(step, rank, op).end - operation(step, rank, op).start;
  }
  /// Seconds of the step in which the rank's compute stream waits for messages.
  double waited(const Scenario &scenario, int step, int rank) const;
  /// Seconds when the step is over on all ranks; 0 for a step before the first.
  double stepEnd(int step) const;
  /// The first of the ranks that end the last step last.
  int lastRank() const;
  /// The steps that the means count.
  int counted() const { return steps - warmUp; }
  /// The mean seconds of a step.
  double stepSeconds() const { return (stepEnd(steps - 1) - stepEnd(warmUp - 1)) / counted(); }
  /// Seconds from the step's beginning until its last message is over on all ranks, counted on the
  /// rank where it is over last; 0 where there is no message.
  double communicationEnd(int step) const;
  /// Seconds per step in which the compute stream waits for messages, on the rank that waits least;
  /// the other ranks also wait for that rank.
  double exposed(const Scenario &scenario) const;
};

/// Simulates the scenario. Deterministic: the same scenario gives the same bits. Returns badInput
/// where the scenario is not valid. Time: a few hundred ns for each task of a message (for servers,
/// times the flows that meet). README.md says what is idealised.
Result<Simulation> runScenario(const Scenario &scenario);

/// One part of the chain of events that the last step's end waited for.
struct CriticalPart {
  enum class Kind { compute, update, message, square };
  Kind kind = Kind::compute;
  Phase phase = Phase::forward;
  std::string name; ///< a layer or a message
  int step = 0, rank = 0;
  double start = 0, end = 0;
};

/// The chain from the first operation to the last event, in order of time: each part begins when
/// the one before ends.
std::vector<CriticalPart> criticalPath(const Scenario &scenario, const Simulation &simulation);

} // namespace syncline::simulate
