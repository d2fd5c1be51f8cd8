// Entries of a dimension by their numbers, taken and put back.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

void CpuBuilder::gatherRows(std::string_view layer, Tensor, Tensor, Tensor, std::int64_t,
                            std::int64_t) {
  prepare("gatherRows", layer, [&](Preparation &p) { p.fail("not supported"); });
}

void CpuBuilder::scatterRows(std::string_view layer, Tensor, Tensor, Tensor, Tensor, std::int64_t,
                             std::int64_t, std::int64_t) {
  prepare("scatterRows", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cpu
