// What gradients may be called when somebody asks for a scheme by name.
#pragma once

#include "ir/sync/Sync.h"
#include "passes/cost/Timeline.h"
#include "passes/merge/RequestedSchemes.h"

#include "mlir/IR/BuiltinOps.h"

namespace syncline {

/// Of a gradient of a step or of a trace.
GradientNames namesOf(cost::ReadyGradient gradient);

/// The schemes that the problem's `requested` gives its layers. Layers that read a parameter are
/// those of the step or the program beside the problem, if there is one. badInput for a pattern
/// that is none or matches nothing.
Result<std::vector<std::optional<cluster::Scheme>>> requestedSchemes(sync::ProblemOp problem);

} // namespace syncline
