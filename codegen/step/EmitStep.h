// From a plan to readable C++ or CUDA against the runtime's step builder.
#pragma once

#include "codegen/step/StepTarget.h"
#include "ir/plan/Plan.h"

#include <string>

namespace syncline {

/// What the file's head says beside the program.
struct StepHeader {
  std::string version; ///< of Syncline
  std::string planner;
};

/// One statement a plan operation, in plan order; generated loops in front. The text depends on
/// nothing but the arguments. Fails with a diagnostic where a loop has no C++.
/// Precondition: the program has passed check-plan.
mlir::FailureOr<std::string> emitStep(plan::ProgramOp program, const StepTarget &target,
                                      const StepHeader &header);

} // namespace syncline
