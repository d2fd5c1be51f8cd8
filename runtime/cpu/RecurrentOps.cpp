// Recurrent layers.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

void CpuBuilder::recurrent(std::string_view layer, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor,
                           Tensor, Tensor, std::int64_t, bool) {
  prepare("recurrent", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CpuBuilder::recurrentBackward(std::string_view layer, Tensor, Tensor, Tensor, Tensor, Tensor,
                                   Tensor, Tensor, Tensor, Tensor, Tensor, std::int64_t, bool) {
  prepare("recurrentBackward", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cpu
