// The simplest fraction within an interval, by continued fractions.
#include "frontend/onnx/Fraction.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace syncline;
using namespace syncline::frontend;

Fraction frontend::reduced(Fraction fraction) {
  const std::int64_t common = std::gcd(fraction.above, fraction.below);
  return {fraction.above / common, fraction.below / common};
}

/// Precondition: 0 < low < high.
static Fraction simplestWithin(double low, double high) {
  const double whole = std::floor(low);
  if (whole == low)
    return {static_cast<std::int64_t>(whole), 1};
  if (whole + 1 <= high)
    return {static_cast<std::int64_t>(whole) + 1, 1};
  const Fraction rest = simplestWithin(1 / (high - whole), 1 / (low - whole));
  return {static_cast<std::int64_t>(whole) * rest.above + rest.below, rest.above};
}

/// The fraction with the smallest numbers that rounds to the number.
static Fraction simplestOf(float number) {
  // Halfway to the neighbours; a little less, so that what is found rounds to the number.
  constexpr float largest = std::numeric_limits<float>::max();
  const double middle = number, share = 0.499;
  const double low = middle - share * (middle - std::nextafter(number, 0.0f));
  const double high = middle + share * (std::nextafter(number, largest) - middle);
  return simplestWithin(low, high);
}

Fraction frontend::fractionOf(float number) {
  constexpr std::int64_t small = 1'000, most = 1'000'000;
  const Fraction simplest = simplestOf(number);
  if (simplest.above < small && simplest.below < small)
    return simplest;
  for (std::int64_t below = 1; below <= most; below *= 10)
    if (const double above = std::round(static_cast<double>(number) * static_cast<double>(below));
        above >= 1 && above < static_cast<double>(most) &&
        static_cast<float>(above / static_cast<double>(below)) == number)
      return reduced({static_cast<std::int64_t>(above), below});
  return simplest;
}
