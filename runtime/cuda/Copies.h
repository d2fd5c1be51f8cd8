// Copies between tensors that walk them in any way, and between layouts of one.
#pragma once

#include "runtime/cuda/IndexMaps.h"
#include "runtime/cuda/Kernels.h"
#include "runtime/cuda/Preparation.h"

namespace syncline::cuda {

/// A prepared copy; addresses are given when it runs, aligned as said when it was made.
struct PreparedCopy {
  CopyMap map;
  int wordBytes = 0; ///< of both sides

  void run(cudaStream_t stream, void *to, const void *from) const;
};

/// to[Σ i·toStrides] = from[Σ i·fromStrides] over all indices of the shape; strides in elements.
/// `alignment` divides both addresses that it will run on. Fails where the shape has too many
/// dimensions that cannot be merged.
PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment);

/// Everything of a tensor from one layout to another; types differ by f32 and bf16 only.
/// `alignment` as above.
class Conversion {
public:
  Conversion(const Preparation &p, const Shape &shape, const Layout &to, const Layout &from,
             std::uint64_t alignment);

  void run(cudaStream_t stream, void *to, const void *from) const;

private:
  template <typename To, typename From>
  void convert(cudaStream_t stream, void *to, const void *from) const;

  Layout to, from;
  PreparedCopy copy;  ///< its words are of no use where elements are rounded
  MatrixStack turned; ///< none where tiles would be nearly empty
};

} // namespace syncline::cuda
