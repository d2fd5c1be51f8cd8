// Time by message size: measured curves made fit for a cluster file. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::calibrate {

struct Point {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// Sizes strictly ascend.
using Curve = std::vector<Point>;

/// Linear between the points; the first time below the first, the last line after the last. The
/// curve is not empty.
double interpolate(const Curve &curve, double bytes);

/// A nondecreasing curve of the same sizes, which a table of costs must be, with little absolute
/// error of the logarithms: isotonic regression by medians, which ignores outliers; neighbours that
/// fall are pooled. `weights`, one above zero a point, say how much each is worth; all the same
/// when empty. Where the pool at the end has several points only the last is kept, so that a table
/// goes on rising after it.
Curve nondecreasing(const Curve &curve, const std::vector<double> &weights = {});

/// Two neighbouring points between which the time grows otherwise than a fitted curve does.
struct Jump {
  std::int64_t before = 0, after = 0; ///< bytes
  double factor = 1;                  ///< growth measured, relative to the growth of the fit
};

/// Those whose factor is above 1 + share or below 1 / (1 + share).
std::vector<Jump> findJumps(const Curve &curve, const std::function<double(double)> &fit,
                            double share);

} // namespace syncline::calibrate
