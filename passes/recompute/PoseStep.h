// From a step to the problem of what to recompute, and from its answer to blocks.
#pragma once

#include "passes/recompute/Blocks.h"
#include "passes/recompute/Problem.h"

namespace syncline::recompute {

struct PosedStep {
  Problem problem;
  std::vector<mlir::Operation *> ops; ///< by the problem's number
};

/// The step's computation, with the bytes that its tensors reserve in the arena. It is cut where a
/// single tensor connects what was computed before and what follows, as between the blocks of
/// residual networks, but into segments of at least 1/48 of the tensors' bytes. Networks with fewer
/// than four such places, as those with connections past all layers, are cut into pieces of equal
/// bytes. With `rounds` the step is in bf16. Precondition: differentiated, fused and timed.
PosedStep poseStep(nn::StepOp step, bool rounds);

/// The blocks that the choices make.
std::vector<Block> blocksOf(const PosedStep &posed, const Choices &choices);

} // namespace syncline::recompute
