// The largest or smallest elements of rows.
#include "runtime/cpu/CpuBuilder.h"

namespace syncline::cpu {

void CpuBuilder::topK(std::string_view layer, Tensor, Tensor, Tensor, bool) {
  prepare("topK", layer, [&](Preparation &p) { p.fail("not supported"); });
}

} // namespace syncline::cpu
