// Why one gradient travels as it does, as text for people.
#pragma once

#include "passes/explain/Explanation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace syncline::report {

/// What virtual time says of the gradient's message, and of the step.
struct VirtualTimes {
  double ready = 0, start = 0, end = 0, reconstructed = 0; ///< seconds; of its bucket's message
  double step = 0, plannersStep = 0;                       ///< the second in the planner's model
};

/// What an explanation does not know.
struct WhyContext {
  std::string gradient; ///< that is explained
  std::int64_t bytes = 0;
  double ready = 0; ///< seconds from the step's beginning
  std::string planner;
  bool optimal = false;                     ///< proved
  bool isRequested = false;                 ///< some schemes were requested by name
  std::string carrier = {};                 ///< of a piggyback
  std::vector<std::string> mates = {};      ///< the others in its message
  std::vector<std::string> piggybacks = {}; ///< that come with its factors
  std::vector<std::string> leftOut = {}; ///< schemes that NCCL, which carries the messages, has not
  double updates = 0;                    ///< seconds of all updates, behind the finish
  std::optional<VirtualTimes> simulated = {}; ///< what 'inspect' prints of it
};

/// How it travels; a table of all schemes, each alone and with its bucket; what the choice saves;
/// what Poseidon's rule says; where the choice flips.
std::string whyReport(const explain::Explanation &explanation, const WhyContext &context);

} // namespace syncline::report
