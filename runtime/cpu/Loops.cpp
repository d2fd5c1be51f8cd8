// Strided copies with merged dimensions, and fills.
#include "runtime/cpu/Loops.h"

#include "runtime/core/ElementBits.h"
#include "runtime/core/StepTypes.h"

#include <algorithm>
#include <cstring>

namespace syncline::cpu {

namespace {

template <typename T>
void copyLoops(T *to, const T *from, const core::CopyLoop *loop, std::size_t depth) {
  if (depth == 0) {
    *to = *from;
    return;
  }
  if (depth == 1 && loop->to == 1 && loop->from == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(loop->extent) * sizeof(T));
    return;
  }
  if (depth == 1) {
    for (std::int64_t i = 0; i < loop->extent; ++i)
      to[i * loop->to] = from[i * loop->from];
    return;
  }
  for (std::int64_t i = 0; i < loop->extent; ++i)
    copyLoops(to + i * loop->to, from + i * loop->from, loop + 1, depth - 1);
}

template <typename T>
void copyAs(std::byte *to, const std::byte *from, const std::vector<core::CopyLoop> &loops) {
  copyLoops(reinterpret_cast<T *>(to), reinterpret_cast<const T *>(from), loops.data(),
            loops.size());
}

template <typename T> void fillAs(std::byte *to, std::uint64_t bits, std::int64_t n) {
  std::fill_n(reinterpret_cast<T *>(to), n, static_cast<T>(bits));
}

} // namespace

void stridedCopy(std::byte *to, const Shape &toStrides, const std::byte *from,
                 const Shape &fromStrides, const Shape &shape, std::int64_t elementBytes) {
  const auto loops = core::mergedLoops(shape, toStrides, fromStrides);
  switch (elementBytes) {
  case 1:
    return copyAs<std::uint8_t>(to, from, loops);
  case 2:
    return copyAs<std::uint16_t>(to, from, loops);
  case 4:
    return copyAs<std::uint32_t>(to, from, loops);
  case 8:
    return copyAs<std::uint64_t>(to, from, loops);
  }
}

void fill(std::byte *to, ElementType type, double value, std::int64_t n) {
  const std::uint64_t bits = core::elementBits(type, value);
  switch (core::elementBytes(type)) {
  case 1:
    return fillAs<std::uint8_t>(to, bits, n);
  case 2:
    return fillAs<std::uint16_t>(to, bits, n);
  case 4:
    return fillAs<std::uint32_t>(to, bits, n);
  case 8:
    return fillAs<std::uint64_t>(to, bits, n);
  }
}

} // namespace syncline::cpu
