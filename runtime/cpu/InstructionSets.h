// Which instruction sets oneDNN uses, and the layouts that follow from them.
#pragma once

#include "syncline/Status.h"

#include <dnnl.hpp>

namespace syncline::cpu {

/// Whether the cap of SYNCLINE_MAX_CPU_ISA is in force. Errors: badInput for an unknown name, or
/// where oneDNN cannot be capped any more.
Status instructionSets();

/// What oneDNN's kernels use on this processor. The first call makes oneDNN obey
/// SYNCLINE_MAX_CPU_ISA, unless the environment has oneDNN's own variable, which then holds for it.
/// So nobody else in the runtime asks oneDNN.
dnnl::cpu_isa oneDnnIsa();

} // namespace syncline::cpu
