// One candidate's plan.
#pragma once

#include "passes/RunPipeline.h"
#include "passes/candidates/Candidates.h"

#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <utility>

namespace syncline::candidates {

/// Plans candidates for one module. What they have in common, the step with its times, is made
/// once. Not thread-safe.
class CandidatePlanner {
public:
  /// Keeps references to all of them. Preconditions: as for candidatesOf(); with `recomputesToFit`
  /// the cluster states its devices' memory.
  CandidatePlanner(mlir::ModuleOp source, bool recomputesToFit, const EnterPhase &enter)
      : source(source), recomputesToFit(recomputesToFit), enter(enter) {}

  /// The module's plan, which needs not fit the devices' memory. With `recomputesToFit` it plans
  /// without recomputation first, and then, while the devices lack memory, with as much of it as
  /// frees what is missing. Errors: those of runPipeline().
  Result<mlir::OwningOpRef<mlir::ModuleOp>> plan(Candidate candidate);

private:
  Result<mlir::OwningOpRef<mlir::ModuleOp>> planOnce(const Candidate &candidate);
  Result<mlir::ModuleOp> timedStep(const Candidate &candidate);

  mlir::ModuleOp source;
  const bool recomputesToFit;
  const EnterPhase &enter;
  /// Steps with their times. Keys: the split of tied gradients, bytes that recomputation frees.
  std::map<std::pair<bool, std::int64_t>, mlir::OwningOpRef<mlir::ModuleOp>> timed;
};

} // namespace syncline::candidates
