// Strided copies between tensors, and conversions between layouts of a tensor.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/kernels/IndexMaps.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

/// A prepared copy. Its addresses are given when it runs and have the alignment stated when it
/// was made.
struct PreparedCopy {
  CopyMap map;
  int wordBytes = 0; ///< bytes copied at once, on both sides

  void run(cudaStream_t stream, void *to, const void *from) const;
};

/// Prepares to[Σ i·toStrides] = from[Σ i·fromStrides] for all indices of the shape; strides are in
/// elements. `alignment` divides both addresses of every run. Fails where the shape has too many
/// dimensions that cannot be merged.
PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment);

/// Converts a whole tensor from one layout to another. Types may differ only as f32 and bf16.
/// `alignment` is as in prepareCopy().
class Conversion {
public:
  Conversion(const Preparation &p, const Shape &shape, const Layout &to, const Layout &from,
             std::uint64_t alignment);

  void run(cudaStream_t stream, void *to, const void *from) const;

private:
  template <typename To, typename From>
  void convert(cudaStream_t stream, void *to, const void *from) const;

  Layout to, from;
  PreparedCopy copy;  ///< used word by word only where the types are equal
  MatrixStack turned; ///< empty where tiles would be nearly empty
};

} // namespace syncline::cuda
