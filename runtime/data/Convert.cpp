// One loop for each pair of types.
#include "runtime/data/Convert.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/core/StepTypes.h"

#include <cstring>

namespace syncline::data {
namespace {

/// How an element type is stored, and its value as a double.
template <typename T> struct Plain {
  using Stored = T;
  static double value(T stored) { return static_cast<double>(stored); }
  static T stored(double value) { return static_cast<T>(value); }
};
struct Half {
  using Stored = std::uint16_t;
  static double value(Stored bits) { return core::floatFromF16(bits); }
  static Stored stored(double value) { return core::f16FromFloat(static_cast<float>(value)); }
};
struct Brain {
  using Stored = std::uint16_t;
  static double value(Stored bits) { return core::floatFromBf16(bits); }
  static Stored stored(double value) { return core::bf16FromFloat(static_cast<float>(value)); }
};

/// Calls `use` with the type that describes `type`.
template <typename F> void withType(ElementType type, F &&use) {
  switch (type) {
  case ElementType::f32:
    return use(Plain<float>());
  case ElementType::f64:
    return use(Plain<double>());
  case ElementType::f16:
    return use(Half());
  case ElementType::bf16:
    return use(Brain());
  case ElementType::i64:
    return use(Plain<std::int64_t>());
  case ElementType::i32:
    return use(Plain<std::int32_t>());
  case ElementType::u8:
    return use(Plain<std::uint8_t>());
  }
}

template <typename From, typename To>
void convertAll(const std::byte *from, std::int64_t count, std::byte *to) {
  for (std::int64_t i = 0; i < count; ++i) {
    typename From::Stored read;
    std::memcpy(&read, from + i * sizeof read, sizeof read);
    const typename To::Stored written = To::stored(From::value(read));
    std::memcpy(to + i * sizeof written, &written, sizeof written);
  }
}

} // namespace

void convert(const std::byte *from, ElementType fromType, std::int64_t count, std::byte *to,
             ElementType toType) {
  if (fromType == toType) {
    std::memcpy(to, from, static_cast<std::size_t>(count * core::elementBytes(toType)));
    return;
  }
  withType(fromType, [&]<typename From>(From) {
    withType(toType, [&]<typename To>(To) { convertAll<From, To>(from, count, to); });
  });
}

} // namespace syncline::data
