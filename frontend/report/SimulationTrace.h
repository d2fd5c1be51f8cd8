// A simulation as a Chrome trace, for Perfetto or chrome://tracing.
#pragma once

#include "passes/simulate/Simulation.h"

#include <string>

namespace syncline::report {

/// The trace as JSON text, in the format that `run --trace` writes too: X events in microseconds, a
/// process a rank, thread 0 its compute stream, thread 1 + c its channel c; flow events lead from
/// the operation that completes a bucket to its message and on to its update.
std::string simulationTrace(const simulate::Scenario &scenario,
                            const simulate::Simulation &simulation, const std::string &planHash);

/// What reports and traces call a phase: "forward", "backward", "update".
constexpr const char *phaseName(simulate::Phase phase) {
  switch (phase) {
  case simulate::Phase::forward:
    return "forward";
  case simulate::Phase::backward:
    return "backward";
  case simulate::Phase::update:
    return "update";
  }
  return "";
}

} // namespace syncline::report
