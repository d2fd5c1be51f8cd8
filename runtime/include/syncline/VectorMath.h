// Functions of floats that compilers turn into vector instructions, as calls of the C library are
// not. They compute in double without branches or tables: an error is that of rounding to float,
// and the bits depend neither on the width of the vectors nor on the processor. Header only,
// because generated steps call them too.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace syncline {

/// eˣ for a float or a difference of floats, to 3e-10 of its value; 0 or infinity where a float's
/// range ends.
inline double exponentialInDouble(double x) {
  constexpr double beyond = 200; // the exponential of a float's largest logarithm and more
  constexpr double log2e = 1.4426950408889634, ln2 = 0.6931471805599453;
  constexpr double toInteger = 0x1.8p52; // its sum with a small number ends in that rounded
  x = x < -beyond ? -beyond : x;
  x = x > beyond ? beyond : x;
  const double shifted = x * log2e + toInteger;
  const double r = x - (shifted - toInteger) * ln2;
  double sum = 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(shifted) << 52;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) + exponent);
}

inline float exponential(float x) { return static_cast<float>(exponentialInDouble(x)); }
inline double exponential(double x) { return std::exp(x); }

/// erf(x), as x times a quotient of polynomials of x² that was fitted to 3e-9 of the value up to
/// x = 4, from where on a float's is 1.
inline float errorFunction(float value) {
  double x = value;
  x = x < -4 ? -4 : x;
  x = x > 4 ? 4 : x;
  const double z = x * x;
  double top = 6.7828477345073252e-6;
  top = top * z + 0.00041106722915817614;
  top = top * z + 0.0042265431331630544;
  top = top * z + 0.055746966278433825;
  top = top * z + 0.19289582031681919;
  top = top * z + 1.1283791698642152;
  double bottom = 2.6003420241290795e-7;
  bottom = bottom * z + 7.2501466436196014e-5;
  bottom = bottom * z + 0.0014209444733826355;
  bottom = bottom * z + 0.016294567794226932;
  bottom = bottom * z + 0.11749813005418543;
  bottom = bottom * z + 0.50428290048092278;
  bottom = bottom * z + 1;
  return static_cast<float>(x * (top / bottom));
}
inline double errorFunction(double x) { return std::erf(x); }

/// tanh(x), to 3e-9 of its value. Next to 0 it is x, where a difference of exponentials has few
/// significant bits.
inline float hyperbolicTangent(float value) {
  constexpr double linear = 1e-4;
  const double x = value, e = exponentialInDouble(2 * x), quotient = (e - 1) / (e + 1);
  return static_cast<float>(x > -linear && x < linear ? x : quotient);
}
inline double hyperbolicTangent(double x) { return std::tanh(x); }

} // namespace syncline
