// Z3's opinion of a plan: its stated bound, proved again from the problem alone.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace syncline::driver {

/// Asks Z3 whether any plan finishes before the bound that the plan states, and, where the plan
/// does not claim to be optimal, whether one finishes before the plan; earlier means by more than
/// sumRounding. Where the planner's name limits the messages, the question about the plan is about
/// such plans only and comes first. The result is one line for the user. badInput where Z3 has no
/// answer to the first question within `seconds`, where a limited planner's plan is not the best,
/// and where the build has no Z3; internal where Z3 beats the bound.
/// Precondition: the module's solution and its certificate have been checked.
Result<std::string> askZ3(const std::string &folder, mlir::ModuleOp module, double seconds);

} // namespace syncline::driver
