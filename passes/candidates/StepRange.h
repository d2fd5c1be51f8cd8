// What a plan's step is, and whether it would be another plan, where computation takes less or more
// time than predicted.
#pragma once

#include "ir/sync/StepRange.h"
#include "passes/candidates/ChoosePlan.h"

namespace syncline::candidates {

/// The plan's steps at both ends of the doubt, and what changes if the request is planned there;
/// nothing where predictSlowed() has no answer. An end without a plan changes nothing. `source` is
/// what the plan was made of. Errors: internal ones of choosePlan(). Precondition: 0 < doubt < 1.
Result<std::optional<sync::StepRange>> stepRange(const Request &request, mlir::ModuleOp source,
                                                 mlir::ModuleOp plan, double doubt,
                                                 std::int64_t runs, const ExpectFits &fits,
                                                 const EnterPhase &enter);

} // namespace syncline::candidates
