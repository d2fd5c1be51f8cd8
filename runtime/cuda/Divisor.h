// Division by a number that does not change while a kernel runs, for device and host: devices have
// no instruction for it, and compute 32-bit quotients in some twenty.
#pragma once

#include "runtime/core/HostDevice.h"

#include <bit>
#include <cstdint>

namespace syncline::cuda {

/// Divides numbers below 2^31 by a product and a shift, exactly: with 2^shift the first power of
/// two at or above the divisor, `factor` is 2^(31 + shift) / divisor rounded up.
class Divisor {
public:
  /// Precondition: 0 < divisor < 2^31.
  constexpr explicit Divisor(std::uint32_t divisor = 1)
      : divisor(divisor), shift(std::bit_width(divisor - 1)),
        factor(static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift)) + divisor - 1) /
                                          divisor)) {}

  SYNCLINE_HOST_DEVICE std::uint32_t value() const { return divisor; }

  SYNCLINE_HOST_DEVICE std::uint32_t quotient(std::uint32_t number) const {
    const auto upper = static_cast<std::uint32_t>(std::uint64_t{2 * number} * factor >> 32);
    return upper >> shift;
  }

  /// Leaves the quotient in `number` and returns the remainder.
  SYNCLINE_HOST_DEVICE std::uint32_t split(std::uint32_t &number) const {
    const std::uint32_t whole = number;
    number = quotient(whole);
    return whole - number * divisor;
  }

private:
  std::uint32_t divisor, shift, factor;
};

} // namespace syncline::cuda
