// Choosing the next size to measure, so that lines between the points describe all sizes between
// them. Pure.
#pragma once

#include "runtime/calibrate/Curve.h"

#include <deque>
#include <optional>

namespace syncline::calibrate {

/// Halves intervals of a curve geometrically. If the measured middle differs by more than
/// `tolerance` (relative) from the line between the ends, both halves are examined in turn;
/// otherwise the interval is finished. Coarse intervals come before fine ones.
class Refinement {
public:
  /// Begins with the curve's own intervals. All sizes are multiples of `unit`.
  explicit Refinement(const Curve &curve, double tolerance = 0.05, std::int64_t unit = 4);

  /// The next size to measure, or nothing when all intervals are finished. Returns the same size
  /// until tell() or skip().
  std::optional<std::int64_t> next() const;
  /// Reports the time of the size next(). The relative uncertainty is added to the tolerance, so
  /// that noise causes no refinement.
  void tell(double seconds, double uncertainty = 0);

  /// Finishes the interval without a measurement.
  void skip() { doubtful.pop_front(); }

private:
  struct Interval {
    Point begin, end;
  };
  void doubt(const Point &begin, const Point &end);
  std::int64_t middle(const Interval &interval) const;

  const double tolerance;
  const std::int64_t unit;
  std::deque<Interval> doubtful;
};

} // namespace syncline::calibrate
