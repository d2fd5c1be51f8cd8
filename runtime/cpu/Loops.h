// Loops over memory for which oneDNN has no primitive.
#pragma once

#include "runtime/core/Strides.h"
#include "syncline/Step.h"

#include <cstddef>
#include <cstdint>

namespace syncline::cpu {

/// Calls body(begin, end) on disjoint parts of 0..n on the calling thread's OpenMP threads. The
/// length of each part but the last is a multiple of 64 elements.
template <typename Body> void parallelParts(std::int64_t n, const Body &body) {
  constexpr std::int64_t grain = 1 << 15;
  if (n <= grain) {
    body(std::int64_t{0}, n);
    return;
  }
  const std::int64_t parts = (n + grain - 1) / grain;
#pragma omp parallel for schedule(static)
  for (std::int64_t part = 0; part < parts; ++part)
    body(part * grain, part + 1 == parts ? n : (part + 1) * grain);
}

/// to[Σ i·toStrides] = from[Σ i·fromStrides] for all indices i of the shape. Strides are in
/// elements and of any sign; elements have 1, 2, 4 or 8 bytes. The buffers do not overlap.
void stridedCopy(std::byte *to, const Shape &toStrides, const std::byte *from,
                 const Shape &fromStrides, const Shape &shape, std::int64_t elementBytes);

/// Fills n elements with `value` converted to the type.
void fill(std::byte *to, ElementType type, double value, std::int64_t n);

} // namespace syncline::cpu
