// Resizing of dimensions.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

void CpuBuilder::resample(std::string_view layer, Tensor, Tensor, const Shape &, const Shape &,
                          std::int64_t, double, bool, bool) {
  prepare("resample", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CpuBuilder::resampleBackward(std::string_view layer, Tensor, Tensor, const Shape &,
                                  const Shape &, std::int64_t, double, bool, bool) {
  prepare("resampleBackward", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cpu
