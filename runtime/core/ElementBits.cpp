// Conversions to element types.
#include "runtime/core/ElementBits.h"

#include <cstring>

namespace syncline::core {

namespace {

template <typename T> std::uint64_t bitsOf(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value); // all supported hosts are little endian
  return bits;
}

} // namespace

std::uint64_t elementBits(ElementType type, double value) {
  switch (type) {
  case ElementType::f32:
    return bitsOf(static_cast<float>(value));
  case ElementType::f64:
    return bitsOf(value);
  case ElementType::i64:
    return bitsOf(static_cast<std::int64_t>(value));
  case ElementType::i32:
    return bitsOf(static_cast<std::int32_t>(value));
  case ElementType::u8:
    return static_cast<std::uint8_t>(value);
  case ElementType::bf16: {
    const auto bits = static_cast<std::uint32_t>(bitsOf(static_cast<float>(value)));
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  }
  case ElementType::f16:
    return bitsOf(static_cast<_Float16>(value));
  }
  return 0;
}

} // namespace syncline::core
