// Strided copies with merged dimensions, fills, views.
#include "runtime/cpu/Loops.h"

#include <cstring>

namespace syncline::cpu {

Shape denseStrides(const Shape &shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

namespace {

/// One dimension of a copy.
struct CopyLoop {
  std::int64_t extent, to, from;
};

/// Outermost first; dimensions of 1 dropped, neighbours that walk both sides alike merged.
std::vector<CopyLoop> mergedLoops(const Shape &shape, const Shape &to, const Shape &from) {
  std::vector<CopyLoop> loops;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (!loops.empty() && loops.back().to == to[i] * shape[i] &&
        loops.back().from == from[i] * shape[i])
      loops.back() = {loops.back().extent * shape[i], to[i], from[i]};
    else
      loops.push_back({shape[i], to[i], from[i]});
  }
  return loops;
}

template <typename T>
void copyLoops(T *to, const T *from, const CopyLoop *loop, std::size_t depth) {
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
void copyAs(std::byte *to, const std::byte *from, const std::vector<CopyLoop> &loops) {
  copyLoops(reinterpret_cast<T *>(to), reinterpret_cast<const T *>(from), loops.data(),
            loops.size());
}

template <typename T> void fillAs(std::byte *to, double value, std::int64_t n) {
  T *out = reinterpret_cast<T *>(to);
  for (std::int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>(value);
}

} // namespace

void stridedCopy(std::byte *to, const Shape &toStrides, const std::byte *from,
                 const Shape &fromStrides, const Shape &shape, std::int64_t elementBytes) {
  const auto loops = mergedLoops(shape, toStrides, fromStrides);
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
  switch (type) {
  case ElementType::f32:
    return fillAs<float>(to, value, n);
  case ElementType::f64:
    return fillAs<double>(to, value, n);
  case ElementType::i64:
    return fillAs<std::int64_t>(to, value, n);
  case ElementType::i32:
    return fillAs<std::int32_t>(to, value, n);
  case ElementType::u8:
    return fillAs<std::uint8_t>(to, value, n);
  case ElementType::bf16: {
    const float rounded = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    return fillAs<std::uint16_t>(to, static_cast<double>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16),
                                 n);
  }
  case ElementType::f16: {
    const _Float16 rounded = static_cast<_Float16>(value);
    std::uint16_t bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    return fillAs<std::uint16_t>(to, static_cast<double>(bits), n);
  }
  }
}

AxisView aroundAxis(const Shape &shape, std::int64_t axis) {
  AxisView view;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0)
    axis += rank;
  for (std::int64_t i = 0; i < rank; ++i)
    (i < axis ? view.outer : i == axis ? view.extent : view.inner) *= shape[i];
  return view;
}

} // namespace syncline::cpu
