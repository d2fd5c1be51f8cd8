// The target that writes steps in C++ for CPUs.
#pragma once

#include "codegen/step/StepTarget.h"

namespace syncline::codegen {

/// Writes step.cpp: loops over ranges, compiled for several vector widths and split over OpenMP's
/// threads. The compiler is $CXX, or c++ when that is unset.
const StepTarget &cppTarget();

} // namespace syncline::codegen
