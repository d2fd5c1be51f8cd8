// Rejections: tolerances and messages that the checkers of solutions and bounds share.
#pragma once

#include "passes/problem/Rounding.h"
#include "passes/proof/SolutionChecker.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace syncline::proof {

using namespace problem;

inline bool isCheckedTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

inline bool isBefore(double a, double b, double part = replayRounding) {
  return a < b - part * std::max(std::abs(a), std::abs(b));
}

inline bool isOther(double a, double b) { return isBefore(a, b) || isBefore(b, a); }

template <typename... Parts> Rejection reject(RejectionKind kind, const Parts &...parts) {
  std::ostringstream text;
  text.precision(17);
  text << 'J' << static_cast<int>(kind) << ": ";
  (text << ... << parts);
  return {kind, text.str()};
}

} // namespace syncline::proof
