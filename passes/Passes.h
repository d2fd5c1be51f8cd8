// All passes: constructors, options and registration, generated from Passes.td.
#pragma once

#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace syncline {

namespace solver {
class Planner;
}

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// `solve-merge` by this planner, for so many channels; null for "optimal". Planners that the
/// passes do not contain come in this way.
std::unique_ptr<mlir::Pass> createSolveMerge(std::shared_ptr<const solver::Planner> planner,
                                             int channels);

} // namespace syncline
