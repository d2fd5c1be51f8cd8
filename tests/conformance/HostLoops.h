// PointwiseLoops.h and copies for backends whose memory is the host's.
#pragma once

#include "tests/conformance/Backends.h"
#include "tests/conformance/PointwiseLoops.h"

#include <cstring>

namespace syncline::conformance {

template <typename Loop>
void hostLoop(void *const *outs, const void *const *ins, std::int64_t n, void *) {
  const LoopOperands operands = operandsOf<Loop>(outs, ins);
  for (std::int64_t i = 0; i < n; ++i)
    Loop::at(operands, i);
}

inline void hostScaleChannels(void *const *outs, const void *const *ins, std::int64_t,
                              void *queue) {
  hostLoop<ScaleChannels>(outs, ins, ScaleChannels::count, queue);
}

inline PointwiseKernels hostKernels() {
  return {{hostLoop<AddRelu>},         {hostLoop<AddOne>},         {hostLoop<Twice>},
          hostScaleChannels,           {hostLoop<Sum<false>>},     {hostLoop<Sum<true>>},
          {hostLoop<ReluGradient<1>>}, {hostLoop<ReluGradient<2>>}};
}

inline void hostCopy(void *to, const void *from, std::size_t bytes) {
  std::memmove(to, from, bytes);
}

} // namespace syncline::conformance
