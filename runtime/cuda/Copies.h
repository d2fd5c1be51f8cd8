// Copies between dense tensors that walk them in any way.
#pragma once

#include "runtime/cuda/IndexMaps.h"
#include "runtime/cuda/Preparation.h"

namespace syncline::cuda {

/// A prepared copy; addresses are given when it runs, aligned as said when it was made.
struct PreparedCopy {
  CopyMap map;
  int wordBytes = 0;

  void run(cudaStream_t stream, void *to, const void *from) const;
};

/// to[Σ i·toStrides] = from[Σ i·fromStrides] over all indices of the shape; strides in elements.
/// `alignment` divides both addresses that it will run on. Fails where the shape has too many
/// dimensions that cannot be merged.
PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment);

/// The largest power of two up to 256 that divides all of them.
std::uint64_t commonAlignment(std::initializer_list<const void *> addresses);

} // namespace syncline::cuda
