// Values by type.
#include "Messages.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/core/StepTypes.h"

#include <cmath>
#include <cstring>
#include <random>

namespace syncline::testing {

template <typename T> static void put(Message &message, std::size_t i, T value) {
  std::memcpy(message.data() + i * sizeof value, &value, sizeof value);
}

template <typename T> static T get(const Message &message, std::size_t i) {
  T value;
  std::memcpy(&value, message.data() + i * sizeof value, sizeof value);
  return value;
}

static double valueAt(ElementType type, const Message &message, std::size_t i) {
  switch (type) {
  case ElementType::f32:
    return get<float>(message, i);
  case ElementType::f64:
    return get<double>(message, i);
  case ElementType::f16:
    return core::floatFromF16(get<std::uint16_t>(message, i));
  case ElementType::bf16:
    return core::floatFromBf16(get<std::uint16_t>(message, i));
  case ElementType::i64:
    return static_cast<double>(get<std::int64_t>(message, i));
  case ElementType::i32:
    return get<std::int32_t>(message, i);
  case ElementType::u8:
    return get<std::uint8_t>(message, i);
  }
  return NAN;
}

static void setValue(ElementType type, Message &message, std::size_t i, std::uint32_t random) {
  const double uniform = random / 2147483648.0 - 1;
  switch (type) {
  case ElementType::f32:
    return put(message, i, static_cast<float>(uniform));
  case ElementType::f64:
    return put(message, i, uniform);
  case ElementType::f16:
    return put(message, i, core::f16FromFloat(static_cast<float>(uniform)));
  case ElementType::bf16:
    return put(message, i, core::bf16FromFloat(static_cast<float>(uniform)));
  case ElementType::i64:
    return put(message, i, static_cast<std::int64_t>(random >> 12));
  case ElementType::i32:
    return put(message, i, static_cast<std::int32_t>(random >> 12));
  case ElementType::u8:
    return put(message, i, static_cast<std::uint8_t>(random >> 24));
  }
}

/// Unit roundoff.
static double roundoff(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return std::ldexp(1, -24);
  case ElementType::f64:
    return std::ldexp(1, -53);
  case ElementType::f16:
    return std::ldexp(1, -11);
  case ElementType::bf16:
    return std::ldexp(1, -8);
  case ElementType::i64:
  case ElementType::i32:
  case ElementType::u8:
    return 0;
  }
  return 0;
}

Message randomMessage(ElementType type, std::size_t count, int rank, int salt) {
  std::mt19937 random(rank * 1000 + salt);
  Message message(count * core::elementBytes(type));
  for (std::size_t i = 0; i < count; ++i)
    setValue(type, message, i, random());
  return message;
}

std::vector<double> gatherAndSum(ElementType type, std::size_t count, int ranks, int salt) {
  std::vector<double> sum(count);
  for (int r = 0; r < ranks; ++r) {
    Message message = randomMessage(type, count, r, salt);
    for (std::size_t i = 0; i < count; ++i)
      sum[i] += valueAt(type, message, i);
  }
  return sum;
}

std::string difference(ElementType type, const Message &message, const std::vector<double> &wanted,
                       int ranks) {
  if (message.size() != wanted.size() * core::elementBytes(type))
    return "expected " + std::to_string(wanted.size()) + " elements";
  // P-1 roundings of partial sums of at most P.
  const double allowed = ranks * ranks * roundoff(type);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (double found = valueAt(type, message, i); !(std::abs(found - wanted[i]) <= allowed))
      return std::string(core::elementName(type)) + " element " + std::to_string(i) + " of " +
             std::to_string(wanted.size()) + ": expected " + std::to_string(wanted[i]) + ", got " +
             std::to_string(found);
  return {};
}

} // namespace syncline::testing
