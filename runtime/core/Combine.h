// How a reduction combines elements, and partial results too, on every backend.
#pragma once

#include "runtime/core/HostDevice.h"
#include "syncline/Step.h"

#include <limits>

namespace syncline::core {

/// Sums and means.
struct Sum {
  static constexpr double start = 0; ///< combined with an element it is that element
  SYNCLINE_HOST_DEVICE static double combine(double a, double b) { return a + b; }
};

struct Maximum {
  static constexpr double start = -std::numeric_limits<double>::infinity();
  /// NaN where one of the two is.
  SYNCLINE_HOST_DEVICE static double combine(double a, double b) { return a > b || a != a ? a : b; }
};

/// Calls `body` with what combines elements, Sum or Maximum, as its template argument.
template <typename Body> auto withCombination(Reduction kind, const Body &body) {
  switch (kind) {
  case Reduction::sum:
  case Reduction::mean:
    break;
  case Reduction::maximum:
    return body.template operator()<Maximum>();
  }
  return body.template operator()<Sum>();
}

/// What the combined terms are divided by.
inline double divisorOf(Reduction kind, std::int64_t terms) {
  return kind == Reduction::mean ? static_cast<double>(terms) : 1.0;
}

} // namespace syncline::core
