// Entries of a dimension by their numbers, and the largest elements of rows.
#include "runtime/cuda/CudaBuilder.h"

namespace syncline::cuda {

void CudaBuilder::gatherRows(std::string_view layer, Tensor, Tensor, Tensor, std::int64_t,
                             std::int64_t) {
  prepare("gatherRows", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CudaBuilder::scatterRows(std::string_view layer, Tensor, Tensor, Tensor, Tensor, std::int64_t,
                              std::int64_t, std::int64_t) {
  prepare("scatterRows", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CudaBuilder::topK(std::string_view layer, Tensor, Tensor, Tensor, bool) {
  prepare("topK", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cuda
