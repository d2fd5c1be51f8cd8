// Which size to measure next, so that lines between the points tell the sizes between them. Pure.
#pragma once

#include "runtime/calibrate/Curve.h"

#include <deque>
#include <optional>

namespace syncline::calibrate {

/// Halves intervals of a curve, geometrically: where the measured middle is further than
/// `tolerance` (relative) from the line between the ends, both halves are doubtful in turn;
/// otherwise the interval is done with. Coarse intervals come before fine ones.
class Refinement {
public:
  /// The curve's own intervals are doubtful. Its sizes are multiples of `unit`, as are those asked
  /// for.
  explicit Refinement(const Curve &curve, double tolerance = 0.05, std::int64_t unit = 4);

  /// The next size to measure; nothing when no interval is doubtful any more. The same until told.
  std::optional<std::int64_t> next() const;
  /// What next() takes, and how uncertain that is (relative), which the tolerance grows by: noise
  /// is no reason to look closer.
  void tell(double seconds, double uncertainty = 0);

  /// Instead of telling: the interval is done with.
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
