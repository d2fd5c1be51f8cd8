// Interpolation, isotonic regression and jumps.
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

namespace {

struct Pool {
  std::vector<std::pair<double, double>> members; ///< seconds and weight
  double value = 0;

  /// Sets the value to the weighted median, or to the geometric mean of the two middle values for
  /// halves of equal weight.
  void settle() {
    std::sort(members.begin(), members.end());
    double left = 0;
    for (const auto &[seconds, weight] : members)
      left += weight / 2;
    for (std::size_t i = 0; i < members.size(); ++i) {
      left -= members[i].second;
      const bool isEven = std::abs(left) <= 1e-9 * members[i].second && i + 1 < members.size();
      value = isEven ? std::sqrt(members[i].first * members[i + 1].first) : members[i].first;
      if (left <= 1e-9 * members[i].second)
        return;
    }
  }
};

} // namespace

Curve nondecreasing(const Curve &curve, const std::vector<double> &weights) {
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    pools.push_back({{{curve[i].seconds, weights.empty() ? 1 : weights[i]}}, curve[i].seconds});
    while (pools.size() > 1 && pools[pools.size() - 2].value > pools.back().value) {
      const Pool last = std::move(pools.back());
      pools.pop_back();
      Pool &before = pools.back();
      before.members.insert(before.members.end(), last.members.begin(), last.members.end());
      before.settle();
    }
  }
  Curve result;
  std::size_t at = 0;
  for (const Pool &pool : pools) {
    const bool isLast = &pool == &pools.back();
    for (std::size_t i = 0; i < pool.members.size(); ++i, ++at)
      if (!isLast || pools.size() == 1 || i + 1 == pool.members.size())
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
