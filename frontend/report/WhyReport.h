// Why one gradient travels as it does, as text for people.
#pragma once

#include "passes/explain/Explanation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::report {

/// Times of the gradient's message and of the step, in virtual time.
struct VirtualTimes {
  double ready = 0, start = 0, end = 0, reconstructed = 0; ///< seconds, of its bucket's message
  double step = 0, plannersStep = 0;                       ///< the second in the planner's model
};

/// Facts for the report that an explanation does not know.
struct WhyContext {
  std::string gradient; ///< the gradient to explain
  std::int64_t bytes = 0;
  double ready = 0; ///< seconds from the step's beginning
  std::string planner;
  bool optimal = false;                     ///< whether the plan is proved optimal
  bool isRequested = false;                 ///< some schemes were requested by name
  std::string carrier = {};                 ///< the carrier's name if the gradient is a piggyback
  std::vector<std::string> mates = {};      ///< the others in its message
  std::vector<std::string> piggybacks = {}; ///< gradients that travel with its factors
  /// Schemes whose cost the cluster states, but which what carries the messages does not have:
  /// NCCL, or else Syncline's transport.
  std::vector<std::string> unavailable = {};
  bool byNccl = false; ///< whether NCCL carries the messages
  double updates = 0;  ///< seconds of all updates, behind the finish
  /// Seconds of computation that all messages take at most, in the planner's model.
  double lost = 0;
  std::vector<std::string> gradients = {};    ///< names of all, in backward order
  std::optional<VirtualTimes> simulated = {}; ///< what 'inspect' prints of it
};

/// What decides whether the rows of an embedding's gradient are fewer bytes than the gradient.
struct RowRule {
  Scheme scheme;             ///< which gathers the rows
  std::int64_t rows = 0;     ///< of one rank: batch times sequence
  std::int64_t ranks = 1;    ///< that send them
  std::int64_t table = 1;    ///< rows of the table
  std::int64_t rowBytes = 1; ///< of one row
};

/// A line: with how many rows of all ranks the scheme moves as many bytes as a ring, and
/// what the plan has.
std::string rowRule(const RowRule &rule, Scheme chosen);

/// Text: how the gradient travels; a table of all schemes, each alone and with its bucket; what the
/// choice saves; what other members of its bucket would cost (groupingText); what Poseidon's rule
/// would choose; where the choice changes.
std::string whyReport(const explain::Explanation &explanation, const WhyContext &context);

} // namespace syncline::report
