// Curves of time by message size, and their preparation for a cluster file. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace syncline::calibrate {

struct Point {
  std::int64_t bytes = 0;
  double seconds = 0;
};

/// Points with strictly ascending sizes.
using Curve = std::vector<Point>;

/// Interpolates linearly between the points. Below the first point the result is its time; after
/// the last one the last line continues. Precondition: the curve is not empty.
double interpolate(const Curve &curve, double bytes);

/// A nondecreasing curve of the same sizes, as a table of costs requires, with a small absolute
/// error of the logarithms. The method is isotonic regression by medians, which ignores outliers:
/// falling neighbours are pooled. `weights` has one positive weight for each point; empty means
/// equal weights. If the last pool has several points, only the last one is kept, so that a table
/// continues to rise after it.
Curve nondecreasing(const Curve &curve, const std::vector<double> &weights = {});

/// Two neighbouring points between which the time grows differently from a fitted curve.
struct Jump {
  std::int64_t before = 0, after = 0; ///< bytes
  double factor = 1;                  ///< measured growth relative to the growth of the fit
};

/// The jumps whose factor is above 1 + share or below 1 / (1 + share).
std::vector<Jump> findJumps(const Curve &curve, const std::function<double(double)> &fit,
                            double share);

} // namespace syncline::calibrate
