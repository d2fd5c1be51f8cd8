// Sums.
#include "runtime/calibrate/Budget.h"

#include <algorithm>

namespace syncline::calibrate {

double minCost(double seconds) {
  // The first try, two more and what goes ahead of each; or the first, one that is thrown away and
  // three more, each of 5 ms that count and as many that do not.
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

} // namespace syncline::calibrate
