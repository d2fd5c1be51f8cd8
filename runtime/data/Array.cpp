// Reading array elements of any type.
#include "runtime/data/Array.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/core/StepTypes.h"

#include <cstring>

namespace syncline::data {

template <typename T> static T load(const std::byte *data, std::int64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

std::int64_t Array::count() const { return core::elementCount(shape); }

double Array::at(std::int64_t i) const {
  switch (type) {
  case ElementType::f32:
    return load<float>(data, i);
  case ElementType::f64:
    return load<double>(data, i);
  case ElementType::f16:
    return core::floatFromF16(load<std::uint16_t>(data, i));
  case ElementType::bf16:
    return core::floatFromBf16(load<std::uint16_t>(data, i));
  case ElementType::i64:
    return static_cast<double>(load<std::int64_t>(data, i));
  case ElementType::i32:
    return load<std::int32_t>(data, i);
  case ElementType::u8:
    return load<std::uint8_t>(data, i);
  }
  return 0;
}

std::string describe(const Shape &shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

} // namespace syncline::data
