// A queue of intervals, so that the search proceeds level by level.
#include "runtime/calibrate/Refinement.h"

#include <cmath>

namespace syncline::calibrate {

/// Smallest ratio of an interval's ends. Finer intervals would only follow noise.
static constexpr double finestRatio = 1.4;

Refinement::Refinement(const Curve &curve, double tolerance, std::int64_t unit)
    : tolerance(tolerance), unit(unit) {
  for (std::size_t i = 1; i < curve.size(); ++i)
    doubt(curve[i - 1], curve[i]);
}

std::int64_t Refinement::middle(const Interval &interval) const {
  const double between = std::sqrt(static_cast<double>(interval.begin.bytes)) *
                         std::sqrt(static_cast<double>(interval.end.bytes));
  return static_cast<std::int64_t>(between / static_cast<double>(unit)) * unit;
}

void Refinement::doubt(const Point &begin, const Point &end) {
  const Interval interval{begin, end};
  const std::int64_t between = middle(interval);
  if (static_cast<double>(end.bytes) >= finestRatio * static_cast<double>(begin.bytes) &&
      between > begin.bytes && between < end.bytes)
    doubtful.push_back(interval);
}

std::optional<std::int64_t> Refinement::next() const {
  if (doubtful.empty())
    return std::nullopt;
  return middle(doubtful.front());
}

void Refinement::tell(double seconds, double uncertainty) {
  const Interval interval = doubtful.front();
  doubtful.pop_front();
  const Point measured{middle(interval), seconds};
  const double line =
      interpolate({interval.begin, interval.end}, static_cast<double>(measured.bytes));
  if (std::abs(line - seconds) <= (tolerance + uncertainty) * seconds)
    return;
  doubt(interval.begin, measured);
  doubt(measured, interval.end);
}

} // namespace syncline::calibrate
