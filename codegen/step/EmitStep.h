// Writes a plan as readable C++ or CUDA that includes the runtime's headers.
#pragma once

#include "codegen/step/StepTarget.h"
#include "ir/plan/Plan.h"

#include <string>

namespace syncline::codegen {

/// What the head of the file says about the program.
struct StepHeader {
  std::string version; ///< Syncline's version
  std::string planner;
};

/// Writes the generated loops, then the tables (syncline/StepTables.h) with one row for each plan
/// operation, in plan order. The text depends on nothing but the arguments. Fails with a diagnostic
/// where a loop has no C++. Precondition: the program has passed check-plan.
mlir::FailureOr<std::string> emitStep(plan::ProgramOp program, const StepTarget &target,
                                      const StepHeader &header);

} // namespace syncline::codegen
