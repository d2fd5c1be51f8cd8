// Elementwise sums. Loops are written for the compiler's vectoriser; see the file's compile flags.
#include "runtime/transport/Sum.h"

#include <bit>
#include <cstdint>

namespace syncline {

// Chosen once at start-up by the processor's features; the sum itself is the same on all.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SYNCLINE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SYNCLINE_CLONES
#endif

SYNCLINE_CLONES static void addF32(float *__restrict into, const float *__restrict from,
                                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    into[i] += from[i];
}

SYNCLINE_CLONES static void addF64(double *__restrict into, const double *__restrict from,
                                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    into[i] += from[i];
}

/// Two's complement, wrapping.
template <typename T>
static void addIntegers(T *__restrict into, const T *__restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    into[i] += from[i];
}

static float fromBf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

static std::uint16_t toBf16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float fromF16(std::uint16_t bits) {
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

static std::uint16_t toF16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return sign | 0x7e00;
  if (bits >= 0x477ff000) // rounds to 65536 or more
    return sign | 0x7c00;
  if (bits < 0x38800000) { // subnormal: adding 0.5 ulp's worth lets the adder round
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  return static_cast<std::uint16_t>(sign |
                                    ((bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13));
}

template <float (*from)(std::uint16_t), std::uint16_t (*to)(float)>
static void addHalves(std::uint16_t *__restrict into, const std::uint16_t *__restrict other,
                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    into[i] = to(from(into[i]) + from(other[i]));
}

bool addInto(ElementType type, void *into, const void *from, std::size_t count) {
  switch (type) {
  case ElementType::f32:
    addF32(static_cast<float *>(into), static_cast<const float *>(from), count);
    return true;
  case ElementType::f64:
    addF64(static_cast<double *>(into), static_cast<const double *>(from), count);
    return true;
  case ElementType::f16:
    addHalves<fromF16, toF16>(static_cast<std::uint16_t *>(into),
                              static_cast<const std::uint16_t *>(from), count);
    return true;
  case ElementType::bf16:
    addHalves<fromBf16, toBf16>(static_cast<std::uint16_t *>(into),
                                static_cast<const std::uint16_t *>(from), count);
    return true;
  case ElementType::i64:
    addIntegers(static_cast<std::uint64_t *>(into), static_cast<const std::uint64_t *>(from),
                count);
    return true;
  case ElementType::i32:
    addIntegers(static_cast<std::uint32_t *>(into), static_cast<const std::uint32_t *>(from),
                count);
    return true;
  case ElementType::u8:
    return false;
  }
  return false;
}

} // namespace syncline
