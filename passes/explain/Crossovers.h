// Crossovers: the nearest values of a parameter at which another scheme is chosen.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace syncline::explain {

/// A parameter that is varied, and how far.
struct Range {
  double planned = 1;
  double least = 1; ///< <= planned
  double most = 1;  ///< >= planned
  /// Neighbouring values differ by at least this: 1 for counts, 0 for continuous values.
  double step = 0;
  double factor = 2; ///< from one tried value to the next, > 1
  /// Bisection of a continuous value stops when the interval is this share of it.
  double precision = 0.01;
};

/// The first value, going away from the planned value, at which the choice differs.
template <typename Choice> struct Crossover {
  double at = 0;
  Choice choice;
};

/// The crossovers nearest to the planned value, below and above.
template <typename Choice> struct Crossovers {
  std::optional<Crossover<Choice>> below, above;
};

/// Finds the crossovers in a range. It tries planned x factor, x factor^2, .. up to the end of the
/// range, bisects between the first two answers that differ, then goes downwards likewise. `other`
/// returns the choice at a value where it differs from the planned choice, else nothing. A
/// crossover that comes and goes between two tried values is not seen. Calls `other` about 2
/// log2(most / least) times where the factor is 2.
template <typename Choice>
Crossovers<Choice> findCrossovers(const Range &range,
                                  const std::function<std::optional<Choice>(double)> &other);

/// The values to try in one direction, nearest first, without the planned one; whole numbers where
/// `step` is 1. The last is the range's end.
std::vector<double> gridOf(const Range &range, bool upwards);

/// The middle of two values, whole where `step` is 1; nothing where the values are close enough.
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
