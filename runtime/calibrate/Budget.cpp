// Adding up costs.
#include "runtime/calibrate/Budget.h"

#include <algorithm>

namespace syncline::calibrate {

double minCost(double seconds) {
  // A long message is carried once to estimate it, then twice with short warm-ups. A short one
  // is carried once, then in one discarded and three counted samples, each of 5 ms and a
  // warm-up of 5 ms.
  constexpr double longRuns = 3.3, shortRuns = 5, shortest = 10e-3;
  return seconds >= longMessage ? longRuns * seconds : shortRuns * std::max(shortest, 2 * seconds);
}

Allotment allot(std::span<const double> costs, double seconds) {
  Allotment result{0, std::max(0.0, seconds)};
  for (double cost : costs) {
    if (cost > result.spare)
      break;
    result.spare -= cost;
    ++result.sizes;
  }
  return result;
}

double timeFor(double wanted, StageTime stage, double taken) {
  return std::max(wanted / (stage.end - stage.begin), (wanted + taken) / stage.end);
}

} // namespace syncline::calibrate
