// Rejections: tolerances and messages that the checkers of solutions and bounds share.
#pragma once

#include "passes/problem/Rounding.h"
#include "passes/proof/MergeChecker.h"
#include "passes/proof/OrderChecker.h"
#include "passes/proof/SolutionChecker.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace syncline::proof {

using namespace problem;

inline bool isCheckedTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

inline bool isBefore(double a, double b, double part = replayRounding) {
  return a < b - part * std::max(std::abs(a), std::abs(b));
}

inline bool isOther(double a, double b) { return isBefore(a, b) || isBefore(b, a); }

/// The message of a broken rule: "J5: ...". Numbers have as many digits as a double needs.
template <typename... Parts>
std::string brokenRule(char series, int number, const Parts &...parts) {
  std::ostringstream text;
  text.precision(17);
  text << series << number << ": ";
  (text << ... << parts);
  return text.str();
}

template <typename... Parts> Rejection reject(RejectionKind kind, const Parts &...parts) {
  return {kind, brokenRule('J', static_cast<int>(kind), parts...)};
}

template <typename... Parts> OrderRejection reject(OrderRejectionKind kind, const Parts &...parts) {
  return {kind, brokenRule('O', static_cast<int>(kind), parts...)};
}

template <typename... Parts> MergeRejection reject(MergeRejectionKind kind, const Parts &...parts) {
  return {kind, brokenRule('M', static_cast<int>(kind), parts...)};
}

} // namespace syncline::proof
