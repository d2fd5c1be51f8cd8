// What was measured of messages, as a table for people.
#pragma once

#include "runtime/calibrate/Findings.h"

#include <string>

namespace syncline::calibrate {

/// A line a size with each scheme's median time, which scheme is the fastest, and the gradient's
/// bytes by its time in GB/s (NCCL's tests call that algbw). Of factors, which are no all-reduce,
/// the size is what one rank contributes, and they are never called the fastest. Empty where no
/// scheme has a size.
std::string resultTable(const Findings &findings);

} // namespace syncline::calibrate
