// Loops for the compiler's vectoriser; see the file's compile flags.
#include "runtime/core/Rounding.h"

#include "runtime/core/Clones.h"
#include "runtime/core/HalfFloat.h"

#include <algorithm>

namespace syncline::core {

SYNCLINE_CLONES static void widenBf16(const std::uint16_t *__restrict from, float *__restrict to,
                                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = core::floatFromBf16(from[i]);
}

SYNCLINE_CLONES static void narrowBf16(const float *__restrict from, std::uint16_t *__restrict to,
                                       std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = core::bf16FromFloat(from[i]);
}

SYNCLINE_CLONES static void widenF16(const std::uint16_t *__restrict from, float *__restrict to,
                                     std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = core::floatFromF16(from[i]);
}

SYNCLINE_CLONES static void narrowF16(const float *__restrict from, std::uint16_t *__restrict to,
                                      std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = core::f16FromFloat(from[i]);
}

void widen(ElementType type, const std::uint16_t *from, float *to, std::int64_t n) {
  type == ElementType::bf16 ? widenBf16(from, to, n) : widenF16(from, to, n);
}

void narrow(ElementType type, const float *from, std::uint16_t *to, std::int64_t n) {
  type == ElementType::bf16 ? narrowBf16(from, to, n) : narrowF16(from, to, n);
}

void roundOff(ElementType type, float *values, std::int64_t n) {
  constexpr std::int64_t length = 1024; // stays in the first-level cache
  std::uint16_t part[length];
  for (std::int64_t begin = 0; begin < n; begin += length) {
    const std::int64_t count = std::min(length, n - begin);
    narrow(type, values + begin, part, count);
    widen(type, part, values + begin, count);
  }
}

} // namespace syncline::core
