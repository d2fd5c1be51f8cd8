// From a plan to readable C++ against the runtime's step builder.
#pragma once

#include "ir/plan/Plan.h"

#include <string>

namespace syncline {

/// What the file's head says beside the program.
struct StepCppHeader {
  std::string version; ///< of Syncline
  std::string planner;
};

/// One statement a plan operation, in plan order; generated loops in front. The text depends on
/// nothing but the arguments. Fails with a diagnostic where a loop has no C++.
/// Precondition: the program has passed check-plan.
mlir::FailureOr<std::string> emitStepCpp(plan::ProgramOp program, const StepCppHeader &header);

} // namespace syncline
