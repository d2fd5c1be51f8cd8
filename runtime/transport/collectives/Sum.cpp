// Elementwise sums. Loops are written for the compiler's vectoriser; see the file's compile flags.
// All of their variants give the same sum.
#include "runtime/transport/collectives/Sum.h"

#include "runtime/core/Clones.h"
#include "runtime/core/HalfFloat.h"

#include <cstdint>

namespace syncline::transport {

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

/// Integers wrap around, in two's complement.
template <typename T>
static void addIntegers(T *__restrict into, const T *__restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    into[i] += from[i];
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
    addHalves<core::floatFromF16, core::f16FromFloat>(
        static_cast<std::uint16_t *>(into), static_cast<const std::uint16_t *>(from), count);
    return true;
  case ElementType::bf16:
    addHalves<core::floatFromBf16, core::bf16FromFloat>(
        static_cast<std::uint16_t *>(into), static_cast<const std::uint16_t *>(from), count);
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

} // namespace syncline::transport
