// Conversions between f32 and the two 16-bit formats. Conversions to 16 bits round to the
// nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace syncline::core {

constexpr float floatFromBf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

constexpr std::uint16_t bf16FromFloat(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float floatFromF16(std::uint16_t bits) {
  std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent == 0) {
    float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

constexpr std::uint16_t f16FromFloat(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00;
  if (bits >= 0x477ff000) // rounds to 65536 or more
    return sign | 0x7c00;
  if (bits < 0x38800000) { // subnormal: beside 0.5, the adder's last bit is the format's
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  return static_cast<std::uint16_t>(sign |
                                    ((bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13));
}

} // namespace syncline::core
