// Simulation: a scenario's steps in virtual time, and what can be read from them.
#pragma once

#include "passes/simulate/Scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::simulate {

struct Span {
  double start = 0, end = 0; ///< seconds from the beginning of the first step
};

/// One message on one rank, in one step.
struct MessageSpan {
  double issued = 0;        ///< when it was handed to its channel
  double start = 0;         ///< when it got the channel
  double end = 0;           ///< when it was over for this rank
  int decider = 0;          ///< the rank whose start decided the end
  std::int64_t before = -1; ///< the message that had the channel last: step * messages + message
};

/// What one resource did in all steps.
struct ResourceUse {
  std::string kind;    ///< "compute", "channel 0", "network out", ...
  std::string place;   ///< "rank 0", "node 3"
  double busy = 0;     ///< seconds
  double bytes = 0;    ///< carried; 0 of what carries none
  double capacity = 0; ///< bytes per second; 0 likewise
};

struct Simulation {
  int ranks = 1; ///< that were simulated: one where all are alike (isFolded)
  bool isFolded = false;
  int steps = 1;
  std::vector<bool> isWhole;         ///< by message: too long to unfold, so that it took its cost
  std::vector<Span> operations;      ///< [step][rank][operation]
  std::vector<MessageSpan> messages; ///< [step][rank][message]
  std::vector<ResourceUse> resources;

  std::size_t operationCount = 0, messageCount = 0; ///< of one step

  const Span &operation(int step, int rank, std::size_t op) const {
    return operations[(static_cast<std::size_t>(step) * ranks + rank) * operationCount + op];
  }
  const MessageSpan &message(int step, int rank, std::size_t message) const {
    return messages[(static_cast<std::size_t>(step) * ranks + rank) * messageCount + message];
  }
  /// When the step is over on all ranks; 0 of a step before the first.
  double stepEnd(int step) const;
  /// The first rank that is last to end the last step.
  int lastRank() const;
  /// The mean of all steps.
  double stepSeconds() const { return stepEnd(steps - 1) / steps; }
  /// When the last message of a step is over on all ranks, from the step's beginning on the rank
  /// where it is over last; 0 where there is none.
  double communicationEnd(int step) const;
  /// Seconds a step in which the compute stream waits for messages, of the rank that waits least:
  /// the others wait for it besides.
  double exposed(const Scenario &scenario) const;
};

/// Objective: what the machines would do. Deterministic: the same scenario gives the same bits.
/// badInput where the scenario is not valid. Time: messages' parts, each a few hundred ns (for
/// servers times the flows that meet). Idealised: README.md.
Result<Simulation> runScenario(const Scenario &scenario);

/// One link of the chain of events that the last step's end waited for.
struct CriticalPart {
  enum class Kind { compute, update, message };
  Kind kind = Kind::compute;
  Phase phase = Phase::forward;
  std::string name; ///< a layer or a message
  int step = 0, rank = 0;
  double start = 0, end = 0;
};

/// From the first operation to the last event, in order of time: each part begins when the one
/// before ends. Walks back by what each waited for.
std::vector<CriticalPart> criticalPath(const Scenario &scenario, const Simulation &simulation);

} // namespace syncline::simulate
