// Loops for the compiler's vectoriser; see the file's compile flags.
#include "runtime/core/Rounding.h"

#include "runtime/core/Clones.h"
#include "runtime/core/HalfFloat.h"

#include <algorithm>

namespace syncline::core {

namespace {

template <auto convert, typename From, typename To>
SYNCLINE_CLONES void convertEach(const From *__restrict from, To *__restrict to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = convert(from[i]);
}

} // namespace

void widen(ElementType type, const std::uint16_t *from, float *to, std::int64_t n) {
  type == ElementType::bf16 ? convertEach<core::floatFromBf16>(from, to, n)
                            : convertEach<core::floatFromF16>(from, to, n);
}

void narrow(ElementType type, const float *from, std::uint16_t *to, std::int64_t n) {
  type == ElementType::bf16 ? convertEach<core::bf16FromFloat>(from, to, n)
                            : convertEach<core::f16FromFloat>(from, to, n);
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
