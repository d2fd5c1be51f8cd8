// The arena of a step whose messages are not planned yet.
#pragma once

#include "ir/nn/NN.h"

#include "mlir/Support/LogicalResult.h"

#include <cstdint>

namespace syncline::recompute {

/// The bytes of the arena that `lower-to-plan` gives the step if all of its gradients travel as
/// sums. Messages by factors take more (passes/lower/README.md). With `rounds` the step is in bf16.
/// Precondition: the step is differentiated and fused. Fails as lower::schedule and
/// lower::planArena do.
mlir::FailureOr<std::int64_t> stepArena(nn::StepOp step, bool rounds);

} // namespace syncline::recompute
