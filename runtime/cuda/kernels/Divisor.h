// Division by a number that is constant during a kernel, for device and host. Devices have no
// instruction for integer division and need about twenty instructions for a 32-bit quotient.
#pragma once

#include "runtime/core/HostDevice.h"

#include <bit>
#include <cstdint>

namespace syncline::cuda {

/// Divides numbers below 2^31 exactly, by a product and a shift. 2^shift is the first power of two
/// at or above the divisor, and `factor` is 2^(31 + shift) / divisor rounded up.
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

  /// Stores the quotient in `number` and returns the remainder.
  SYNCLINE_HOST_DEVICE std::uint32_t split(std::uint32_t &number) const {
    const std::uint32_t whole = number;
    number = quotient(whole);
    return whole - number * divisor;
  }

private:
  std::uint32_t divisor, shift, factor;
};

} // namespace syncline::cuda
