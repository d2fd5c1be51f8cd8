// Division of each type.
#include "runtime/api/Mean.h"

#include "runtime/core/Rounding.h"

#include <algorithm>
#include <array>

namespace syncline::api {

bool hasMean(ElementType type) {
  switch (type) {
  case ElementType::f32:
  case ElementType::f64:
  case ElementType::f16:
  case ElementType::bf16:
    return true;
  case ElementType::i64:
  case ElementType::i32:
  case ElementType::u8:
    return false;
  }
  return false;
}

template <typename T> static void divideAll(T *values, std::int64_t count, int by) {
  for (std::int64_t i = 0; i < count; ++i)
    values[i] /= static_cast<T>(by);
}

/// Values of 16 bits are divided as f32 and rounded.
static void divideHalves(std::uint16_t *values, std::int64_t count, ElementType type, int by) {
  std::array<float, 4096> wide;
  for (std::int64_t first = 0; first < count; first += std::ssize(wide)) {
    const std::int64_t n = std::min<std::int64_t>(std::ssize(wide), count - first);
    core::widen(type, values + first, wide.data(), n);
    divideAll(wide.data(), n, by);
    core::narrow(type, wide.data(), values + first, n);
  }
}

void divide(void *data, std::int64_t count, ElementType type, int by) {
  if (type == ElementType::f32)
    divideAll(static_cast<float *>(data), count, by);
  else if (type == ElementType::f64)
    divideAll(static_cast<double *>(data), count, by);
  else
    divideHalves(static_cast<std::uint16_t *>(data), count, type, by);
}

} // namespace syncline::api
