// Memory layouts: oneDNN memory descriptors, and queries about them.
#pragma once

#include "syncline/Step.h"

#include <dnnl.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace syncline::cpu {

using Layout = dnnl::memory::desc;
using DataType = dnnl::memory::data_type;

/// The type in oneDNN; undef for the eight-byte types, which oneDNN 2.6 does not have.
DataType dataType(ElementType type);

/// The dense row-major layout. A scalar becomes one dimension of 1. An eight-byte type becomes
/// bytes with one more dimension of 8, which suffices because such tensors always stay plain.
Layout plainLayout(const Shape &shape, ElementType type);
Layout plainLayout(const Shape &dims, DataType type);

/// The dense row-major layout of the same dimensions and type.
Layout plainLike(const Layout &layout);
bool isPlain(const Layout &layout);

/// The offset of an element from the tensor's begin, in elements. Precondition: oneDNN calls the
/// layout blocked, which includes plain layouts, channels last and blocks of channels.
std::int64_t elementOffset(const Layout &layout, std::span<const std::int64_t> index);

/// Whether the layout has bytes that belong to no element.
bool isPadded(const Layout &layout);

/// This layout for elements of another type, such as that of an activation's mask.
Layout withType(const Layout &layout, DataType type);

/// Whether elements declared as f32 are stored as bf16 where their layout has the type `stored`.
inline bool isRounded(ElementType declared, DataType stored) {
  return declared == ElementType::f32 && stored == DataType::bf16;
}

/// A layout of the same kind (plain, blocked channels, channels last) for other dimensions. Nothing
/// when the kind is another one or the ranks differ.
std::optional<Layout> likeLayout(const Layout &model, const Shape &dims);

/// Whether this processor multiplies bf16 by AMX's tiles, and no cap takes them away.
bool hasTiles();

/// Channels of a block in the layouts that oneDNN's convolutions prefer on this processor, 8 or 16.
std::int64_t vectorLanes();

/// Activations with channels last, for 1 to 3 spatial dimensions.
Layout channelsLastLayout(const Shape &dims, DataType type);

/// The best layout of activations for convolutions on this processor: channels last for tiles,
/// otherwise in blocks of one vector. Plain for tensors without channels and spatial dimensions.
Layout activationLayout(const Shape &dims, DataType type);

/// Calls visit() with a value of the elements' type: float, or std::uint16_t for bf16.
template <typename Visit> void withElement(const Layout &layout, const Visit &visit) {
  if (layout.data_type() == DataType::f32)
    visit(float{});
  else
    visit(std::uint16_t{});
}

/// The layout as text that is stable across runs and machines: "f32 64x3x7x7 strides 2352,16,336,48
/// blocks 16 of 0".
std::string describe(const Layout &layout);

} // namespace syncline::cpu
