// Sums over ranks in a fixed order.
#include "tests/host-cuda/NcclCommunicator.h"

#include "runtime/core/HalfFloat.h"

#include <algorithm>

namespace syncline::hostcuda {

namespace {

/// An element in memory, and what is computed with.
template <typename T> struct Plain {
  using Stored = T;
  static T load(T bits) { return bits; }
  static T store(T value) { return value; }
};
struct Half {
  using Stored = std::uint16_t;
  static float load(Stored bits) { return core::floatFromF16(bits); }
  static Stored store(float value) { return core::f16FromFloat(value); }
};
struct Brain {
  using Stored = std::uint16_t;
  static float load(Stored bits) { return core::floatFromBf16(bits); }
  static Stored store(float value) { return core::bf16FromFloat(value); }
};

template <typename T> T combine(ncclRedOp_t reduction, T a, T b) {
  switch (static_cast<int>(reduction)) {
  case ncclProd:
    return static_cast<T>(a * b);
  case ncclMax:
    return std::max(a, b);
  case ncclMin:
    return std::min(a, b);
  default:
    return static_cast<T>(a + b);
  }
}

template <typename Element>
void reduceAs(ncclRedOp_t reduction, const std::vector<const std::byte *> &from, std::byte *to,
              std::size_t count) {
  using Stored = typename Element::Stored;
  for (std::size_t i = 0; i < count; ++i) {
    auto at = [&](std::size_t rank) {
      return Element::load(reinterpret_cast<const Stored *>(from[rank])[i]);
    };
    auto value = at(0);
    for (std::size_t rank = 1; rank < from.size(); ++rank)
      value = combine(reduction, value, at(rank));
    if (reduction == ncclAvg)
      value /= static_cast<decltype(value)>(from.size());
    reinterpret_cast<Stored *>(to)[i] = Element::store(value);
  }
}

} // namespace

std::size_t bytesOf(ncclDataType_t type) {
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

bool isType(ncclDataType_t type) { return type >= ncclInt8 && type <= ncclBfloat16; }

void reduceParts(ncclDataType_t type, ncclRedOp_t reduction,
                 const std::vector<const std::byte *> &from, std::byte *to, std::size_t count) {
  using Reduce =
      void(ncclRedOp_t, const std::vector<const std::byte *> &, std::byte *, std::size_t);
  constexpr Reduce *reduce[] = {
      reduceAs<Plain<std::int8_t>>,
      reduceAs<Plain<std::uint8_t>>,
      reduceAs<Plain<std::int32_t>>,
      reduceAs<Plain<std::uint32_t>>,
      reduceAs<Plain<std::int64_t>>,
      reduceAs<Plain<std::uint64_t>>,
      reduceAs<Half>,
      reduceAs<Plain<float>>,
      reduceAs<Plain<double>>,
      reduceAs<Brain>,
  };
  reduce[type](reduction, from, to, count);
}

} // namespace syncline::hostcuda
