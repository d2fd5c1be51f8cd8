// Resizing of dimensions.
#include "runtime/cuda/CudaBuilder.h"

namespace syncline::cuda {

void CudaBuilder::resample(std::string_view layer, Tensor, Tensor, const Shape &, const Shape &,
                           std::int64_t, double, bool, bool) {
  prepare("resample", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CudaBuilder::resampleBackward(std::string_view layer, Tensor, Tensor, const Shape &,
                                   const Shape &, std::int64_t, double, bool, bool) {
  prepare("resampleBackward", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cuda
