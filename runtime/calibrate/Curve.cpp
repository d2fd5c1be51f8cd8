// Interpolation, isotonic regression, jumps.
#include "runtime/calibrate/Curve.h"

#include <algorithm>
#include <cmath>

namespace syncline::calibrate {

double interpolate(const Curve &curve, double bytes) {
  if (curve.size() == 1 || bytes <= static_cast<double>(curve.front().bytes))
    return curve.front().seconds;
  std::size_t next = 1;
  while (next + 1 < curve.size() && static_cast<double>(curve[next].bytes) < bytes)
    ++next;
  const Point &a = curve[next - 1], &b = curve[next];
  const double share =
      (bytes - static_cast<double>(a.bytes)) / static_cast<double>(b.bytes - a.bytes);
  return std::max(0.0, a.seconds + share * (b.seconds - a.seconds));
}

Curve nondecreasing(const Curve &curve) {
  // Weights 1/t² make errors relative; the weighted mean of a pool is Σ(1/t) / Σ(1/t²).
  struct Pool {
    double inverse = 0, inverseSquare = 0;
    std::size_t points = 0;
    double value() const { return inverse / inverseSquare; }
  };
  std::vector<Pool> pools;
  for (const Point &point : curve) {
    const double t = std::max(point.seconds, 1e-12);
    pools.push_back({1 / t, 1 / (t * t), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].value() > pools.back().value()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().inverse += last.inverse;
      pools.back().inverseSquare += last.inverseSquare;
      pools.back().points += last.points;
    }
  }
  Curve result;
  std::size_t at = 0;
  for (const Pool &pool : pools) {
    const bool isLast = &pool == &pools.back();
    for (std::size_t i = 0; i < pool.points; ++i, ++at)
      if (!isLast || pools.size() == 1 || i + 1 == pool.points)
        result.push_back({curve[at].bytes, pool.value()});
  }
  return result;
}

std::vector<Jump> findJumps(const Curve &curve, const std::function<double(double)> &fit,
                            double share) {
  std::vector<Jump> jumps;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const Point &a = curve[i - 1], &b = curve[i];
    const double expected = fit(static_cast<double>(b.bytes)) / fit(static_cast<double>(a.bytes));
    const double factor = b.seconds / a.seconds / expected;
    if (factor > 1 + share || factor < 1 / (1 + share))
      jumps.push_back({a.bytes, b.bytes, factor});
  }
  return jumps;
}

} // namespace syncline::calibrate
