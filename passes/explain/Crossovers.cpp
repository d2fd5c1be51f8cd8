// Chooses the values that a search for crossovers tries.
#include "passes/explain/Crossovers.h"

#include <algorithm>
#include <cmath>

namespace syncline::explain {

std::vector<double> gridOf(const Range &range, bool upwards) {
  std::vector<double> values;
  const double end = upwards ? range.most : range.least;
  double value = range.planned;
  while (upwards ? value < end : value > end) { // ends at once where an end is NaN
    value = upwards ? std::min(value * range.factor, end) : std::max(value / range.factor, end);
    if (range.step > 0)
      value = upwards ? std::ceil(value / range.step) * range.step
                      : std::floor(value / range.step) * range.step;
    values.push_back(value);
  }
  return values;
}

std::optional<double> between(const Range &range, double a, double b) {
  if (range.step > 0) {
    const double middle = std::round((a + b) / 2 / range.step) * range.step;
    if (std::fabs(a - b) < 1.5 * range.step)
      return std::nullopt;
    return middle;
  }
  if (std::fabs(a - b) <= range.precision * std::min(a, b))
    return std::nullopt;
  return std::sqrt(a * b);
}

} // namespace syncline::explain
