// Flips: from where on a choice is another one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace syncline::explain {

/// What is varied, and how far.
struct Range {
  double planned = 1;
  double least = 1; ///< <= planned
  double most = 1;  ///< >= planned
  /// Neighbouring values differ by at least this: 1 for counts, 0 for what is continuous.
  double step = 0;
  double factor = 2; ///< from one value requested to the next, > 1
  /// A continuous value is found up to this share of it.
  double precision = 0.01;
};

/// The first value at which the choice is another one, going away from the planned value.
template <typename Choice> struct Crossover {
  double at = 0;
  Choice choice;
};

/// The flips nearest to the planned value, below and above.
template <typename Choice> struct Crossovers {
  std::optional<Crossover<Choice>> below, above;
};

/// Asks at planned x factor, x factor^2, .. up to the end of the range, and between the first two
/// answers that differ by bisection; then downwards likewise. `other` says what is chosen at a
/// value where it is not the planned choice, nothing where it is. A flip that comes and goes
/// between two values requested is not seen. Calls `other` about 2 log2(most / least) times where
/// the factor is 2.
template <typename Choice>
Crossovers<Choice> findCrossovers(const Range &range,
                                  const std::function<std::optional<Choice>(double)> &other);

/// The values requested in one direction, nearest first, without the planned one; whole where
/// `step` is 1. The last is the range's end.
std::vector<double> gridOf(const Range &range, bool upwards);

/// The middle of two values, whole where `step` is 1; nothing where they are near enough.
std::optional<double> between(const Range &range, double a, double b);

template <typename Choice>
Crossovers<Choice> findCrossovers(const Range &range,
                                  const std::function<std::optional<Choice>(double)> &other) {
  auto search = [&](bool upwards) -> std::optional<Crossover<Choice>> {
    double same = range.planned;
    for (double value : gridOf(range, upwards)) {
      std::optional<Choice> found = other(value);
      if (!found) {
        same = value;
        continue;
      }
      Crossover<Choice> crossover{value, *found};
      while (std::optional<double> middle = between(range, same, crossover.at)) {
        if (std::optional<Choice> there = other(*middle))
          crossover = {*middle, *there};
        else
          same = *middle;
      }
      return crossover;
    }
    return std::nullopt;
  };
  return {search(false), search(true)};
}

} // namespace syncline::explain
