// The measured message times as a table to be printed.
#pragma once

#include "runtime/calibrate/Findings.h"

#include <string>

namespace syncline::calibrate {

/// One line for each size with each scheme's median time, the fastest scheme, and the gradient's
/// bytes divided by its time in GB/s (algbw in NCCL's tests). For factors, which are no all-reduce,
/// the size is what one rank contributes, and they are never named the fastest. Empty where no
/// scheme has a size.
std::string resultTable(const Findings &findings);

} // namespace syncline::calibrate
