// C++ for CPUs.
#pragma once

#include "codegen/step/StepTarget.h"

namespace syncline {

/// step.cpp: loops over ranges, cloned for several vector widths, split over OpenMP's threads.
/// Compiled with $CXX, or c++ when that is unset.
const StepTarget &cppTarget();

} // namespace syncline
