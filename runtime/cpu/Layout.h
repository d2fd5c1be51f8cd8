// Memory layouts: oneDNN memory descriptors, and what we ask about them.
#pragma once

#include "syncline/Step.h"

#include <dnnl.hpp>

#include <optional>
#include <span>
#include <string>

namespace syncline::cpu {

using Layout = dnnl::memory::desc;
using DataType = dnnl::memory::data_type;

/// undef for the eight-byte types, which oneDNN 2.6 does not know.
DataType dataType(ElementType type);

/// Dense row-major. A scalar becomes one dimension of 1; an eight-byte type becomes bytes with one
/// more dimension of 8, which is good enough for what is done to such tensors: they stay plain.
Layout plainLayout(const Shape &shape, ElementType type);
Layout plainLayout(const Shape &dims, DataType type);

/// Dense row-major, of the same dimensions and type.
Layout plainLike(const Layout &layout);
bool isPlain(const Layout &layout);

/// Where an element lies, in elements from the tensor's begin. Precondition: a blocked layout, as
/// all that are plain, channels last or in blocks of channels.
std::int64_t elementOffset(const Layout &layout, std::span<const std::int64_t> index);

/// Whether there are bytes that belong to no element.
bool isPadded(const Layout &layout);

/// The same layout of other elements (an activation's and its mask's, say).
Layout withType(const Layout &layout, DataType type);

/// The same kind of layout (plain, blocked channels, channels last) of other dimensions; nothing
/// when the kind is none of those or the ranks differ.
std::optional<Layout> likeLayout(const Layout &model, const Shape &dims);

/// What convolutions on this processor like best for activations: channels in blocks of one vector.
/// Plain for tensors without channels and spatial dimensions.
Layout channelBlockedLayout(const Shape &dims, DataType type);

/// "f32 64x3x7x7 strides 2352,16,336,48 blocks 16 of 0", stable across runs and machines.
std::string describe(const Layout &layout);

} // namespace syncline::cpu
