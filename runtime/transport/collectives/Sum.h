// Elementwise sums of raw buffers, for every element type that a gradient can have.
#pragma once

#include "syncline/Status.h"
#include "syncline/Step.h"

#include <cstddef>

namespace syncline::transport {

/// into[i] += from[i] for `count` elements. f16 and bf16 are added as f32 and rounded to the
/// nearest even. The buffers do not overlap and are aligned to their element. Returns false for u8,
/// which has no sum.
bool addInto(ElementType type, void *into, const void *from, std::size_t count);

} // namespace syncline::transport
