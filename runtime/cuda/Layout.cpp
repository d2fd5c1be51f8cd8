// Strides of layouts, and conversions on the host.
#include "runtime/cuda/Layout.h"

#include "runtime/core/HalfFloat.h"
#include "runtime/core/Strides.h"

#include <cstring>

namespace syncline::cuda {

using core::Precision;

Layout denseLayout(const core::StepTensor &tensor) { return {tensor.type, false}; }

Layout normalized(const Layout &layout, const Shape &shape) {
  const bool isImage = shape.size() >= 3 && shape.size() <= 5;
  const bool differs = isImage && shape[1] != 1 && shape[0] * shape[1] != core::elementCount(shape);
  return {layout.type, layout.isChannelsLast && differs};
}

Shape stridesOf(const Layout &layout, const Shape &shape) {
  if (!layout.isChannelsLast || shape.size() < 3)
    return core::denseStrides(shape);
  Shape moved{shape[0]};
  moved.insert(moved.end(), shape.begin() + 2, shape.end());
  moved.push_back(shape[1]);
  Shape strides = core::denseStrides(moved);
  strides.insert(strides.begin() + 1, strides.back());
  strides.pop_back();
  return strides;
}

std::vector<Layout> convolutionLayouts(Precision precision) {
  constexpr Layout plain{ElementType::f32, false}, last{ElementType::f32, true};
  switch (precision) {
  case Precision::fp32:
    return {plain};
  case Precision::tf32:
    return {last, plain};
  case Precision::bf16:
    return {{ElementType::bf16, true}, last, plain};
  }
  return {plain};
}

ElementType productType(Precision precision) {
  return precision == Precision::bf16 ? ElementType::bf16 : ElementType::f32;
}

std::int64_t layoutBytes(const Layout &layout, const Shape &shape) {
  return core::elementCount(shape) * core::elementBytes(layout.type);
}

namespace {

/// Calls copy(index in the layout, index in the dense form) for every element.
template <typename Copy> void walk(const Layout &layout, const Shape &shape, const Copy &copy) {
  const Shape strides = stridesOf(layout, shape);
  Shape index(shape.size(), 0);
  std::int64_t at = 0;
  for (std::int64_t number = 0, n = core::elementCount(shape); number < n; ++number) {
    copy(at, number);
    for (std::size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

} // namespace

void toDense(const core::StepTensor &tensor, const Layout &layout,
             std::span<const std::byte> stored, std::span<std::byte> dense) {
  const auto bytes = static_cast<std::size_t>(core::elementBytes(tensor.type));
  const bool isRounded = layout.type != tensor.type;
  walk(layout, tensor.shape, [&](std::int64_t at, std::int64_t number) {
    std::byte *to = dense.data() + static_cast<std::size_t>(number) * bytes;
    if (!isRounded)
      return void(std::memcpy(to, stored.data() + static_cast<std::size_t>(at) * bytes, bytes));
    std::uint16_t bits;
    std::memcpy(&bits, stored.data() + static_cast<std::size_t>(at) * sizeof bits, sizeof bits);
    const float value = core::floatFromBf16(bits);
    std::memcpy(to, &value, sizeof value);
  });
}

void fromDense(const core::StepTensor &tensor, const Layout &layout,
               std::span<const std::byte> dense, std::span<std::byte> stored) {
  const auto bytes = static_cast<std::size_t>(core::elementBytes(tensor.type));
  const bool isRounded = layout.type != tensor.type;
  walk(layout, tensor.shape, [&](std::int64_t at, std::int64_t number) {
    const std::byte *from = dense.data() + static_cast<std::size_t>(number) * bytes;
    if (!isRounded)
      return void(std::memcpy(stored.data() + static_cast<std::size_t>(at) * bytes, from, bytes));
    float value;
    std::memcpy(&value, from, sizeof value);
    const std::uint16_t bits = core::bf16FromFloat(value);
    std::memcpy(stored.data() + static_cast<std::size_t>(at) * sizeof bits, &bits, sizeof bits);
  });
}

std::string describe(const Layout &layout) {
  return std::string(core::elementName(layout.type)) +
         (layout.isChannelsLast ? " channels-last" : "");
}

} // namespace syncline::cuda
