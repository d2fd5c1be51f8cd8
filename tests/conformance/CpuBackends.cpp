// The backend under test: the CPU's.
#include "tests/conformance/Backends.h"

#include "runtime/cpu/CpuBackend.h"
#include "tests/conformance/PointwiseLoops.h"

#include <cstring>

namespace syncline::conformance {

namespace {

template <typename Loop>
void loop(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  for (std::int64_t i = 0; i < n; ++i)
    Loop::at(outs, ins, i);
}

void scaleChannels(void *const *outs, const void *const *ins, std::int64_t, void *queue) {
  loop<ScaleChannels>(outs, ins, ScaleChannels::count, queue);
}

void copy(void *to, const void *from, std::size_t bytes) { std::memmove(to, from, bytes); }

} // namespace

std::vector<Backend> backends() {
  return {{"cpu",
           cpu::createCpuExecutable,
           copy,
           {loop<AddRelu>, loop<AddOne>, loop<Twice>, scaleChannels}}};
}

} // namespace syncline::conformance
