// What reports and traces call the phases of a step.
#pragma once

#include "passes/simulate/Scenario.h"

namespace syncline::report {

/// "forward", "backward", "update".
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
