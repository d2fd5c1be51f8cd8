// How the time is shared among message sizes. Pure functions.
#pragma once

#include <span>

namespace syncline::calibrate {

/// Messages that take as long in seconds are measured with fewer repetitions: nobody has to wake up
/// for them, and no burst or slice is a part of them worth mentioning.
inline constexpr double longMessage = 0.1;

/// Seconds that measuring a message takes at least, repetitions included, by what one takes.
double minCost(double seconds);

struct Allotment {
  int sizes = 0;    ///< of the given ones, the first, for which there is time
  double spare = 0; ///< seconds left when these are measured as briefly as can be; at least 0
};

/// `costs`: seconds that the sizes take at least, all schemes of each, shortest messages first.
Allotment allot(std::span<const double> costs, double seconds);

} // namespace syncline::calibrate
