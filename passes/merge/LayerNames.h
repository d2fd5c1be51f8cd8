// The names by which a request may mean a gradient.
#pragma once

#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/RequestedSchemes.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline::merge {

/// The names of a gradient of a step or of a trace.
GradientNames namesOf(cost::ReadyGradient gradient);

/// The names of a parameter of a program.
GradientNames namesOf(plan::TensorOp parameter);

/// The schemes that the problem's `requested` gives its layers. The layers that read a parameter
/// come from the step or the program beside the problem, if there is one. Returns badInput for a
/// pattern that is invalid or matches nothing.
Result<std::vector<std::optional<cluster::Scheme>>> requestedSchemes(sync::ProblemOp problem);

} // namespace syncline::merge
