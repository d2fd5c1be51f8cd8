// The pointwise loops and the copies of the conformance suite, on streams of the host.
#pragma once

#include "tests/conformance/Backends.h"

namespace syncline::conformance {

PointwiseKernels streamKernels();
/// The copy of conformance::Backend.
void streamCopy(void *to, const void *from, std::size_t bytes);

} // namespace syncline::conformance
