// Recurrent layers, which compile refuses for this backend.
#include "runtime/cuda/CudaBuilder.h"

namespace syncline::cuda {

void CudaBuilder::recurrent(std::string_view layer, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                            Tensor, Tensor, std::int64_t, bool) {
  prepare("recurrent", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CudaBuilder::recurrentBackward(std::string_view layer, Tensor, Tensor, Tensor, Tensor, Tensor,
                                    Tensor, Tensor, Tensor, Tensor, Tensor, std::int64_t, bool) {
  prepare("recurrentBackward", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cuda
