// From a plan to readable C++ or CUDA against the runtime's headers.
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

/// Generated loops, then tables (syncline/StepTables.h): one row a plan operation, in plan order.
/// The text depends on nothing but the arguments. Fails with a diagnostic where a loop has no C++.
/// Precondition: the program has passed check-plan.
mlir::FailureOr<std::string> emitStep(plan::ProgramOp program, const StepTarget &target,
                                      const StepHeader &header);

} // namespace syncline
