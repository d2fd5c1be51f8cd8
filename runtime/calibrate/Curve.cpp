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

/// Between the two in the middle geometrically.
static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : std::sqrt(values[middle - 1] * values[middle]);
}

Curve nondecreasing(const Curve &curve) {
  struct Pool {
    std::vector<double> seconds;
    double value;
  };
  std::vector<Pool> pools;
  for (const Point &point : curve) {
    pools.push_back({{point.seconds}, point.seconds});
    while (pools.size() > 1 && pools[pools.size() - 2].value > pools.back().value) {
      const Pool last = std::move(pools.back());
      pools.pop_back();
      Pool &before = pools.back();
      before.seconds.insert(before.seconds.end(), last.seconds.begin(), last.seconds.end());
      before.value = median(before.seconds);
    }
  }
  Curve result;
  std::size_t at = 0;
  for (const Pool &pool : pools) {
    const bool isLast = &pool == &pools.back();
    for (std::size_t i = 0; i < pool.seconds.size(); ++i, ++at)
      if (!isLast || pools.size() == 1 || i + 1 == pool.seconds.size())
        result.push_back({curve[at].bytes, pool.value});
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
