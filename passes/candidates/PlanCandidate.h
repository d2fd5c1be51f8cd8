// One candidate's plan.
#pragma once

#include "passes/RunPipeline.h"
#include "passes/candidates/Candidates.h"

#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace syncline::candidates {

/// Plans candidates for one module. What they have in common is made once: the step with its times,
/// and the planner's answer, which is of one channel. Not thread-safe.
class CandidatePlanner {
public:
  /// Keeps references to all of them. Preconditions: as for candidatesOf(); with `recomputesToFit`
  /// the cluster states its devices' memory.
  CandidatePlanner(mlir::ModuleOp source, bool recomputesToFit, const EnterPhase &enter)
      : source(source), recomputesToFit(recomputesToFit), enter(enter) {}

  /// The module's plan, which needs not fit the devices' memory. With `recomputesToFit` it plans
  /// without recomputation first, and then, while the devices lack memory, with as much of it as
  /// frees what is missing. Where 'optimal' plans an order and steps scatter, the plan has the
  /// order with the least mean of disturbed steps (ChooseOrder.h), unless it lacks memory and the
  /// other one does not; its prediction then has `sync.disturbed`, the barrier second. Errors:
  /// those of runPasses() and chooseOrder().
  Result<mlir::OwningOpRef<mlir::ModuleOp>> plan(Candidate candidate);

private:
  Result<mlir::OwningOpRef<mlir::ModuleOp>> planOnce(const Candidate &candidate);
  Result<mlir::OwningOpRef<mlir::ModuleOp>> planFitting(Candidate &candidate);
  Result<mlir::ModuleOp> timedStep(const Candidate &candidate);
  Result<mlir::ModuleOp> solution(Candidate candidate);

  mlir::ModuleOp source;
  const bool recomputesToFit;
  const EnterPhase &enter;
  using StepKey = std::pair<bool, std::int64_t>; ///< split of tied gradients, freeArena
  std::map<StepKey, mlir::OwningOpRef<mlir::ModuleOp>> timed;
  std::map<std::tuple<StepKey, std::string, std::string>,
           mlir::OwningOpRef<mlir::ModuleOp>>
      solved; ///< by overlap and planner, too
};

/// The bytes that the devices have too few for the plan (plan::rankMemory); 0 where it fits, or
/// where the cluster file does not state the devices' memory.
std::int64_t missingBytes(mlir::ModuleOp plan);

} // namespace syncline::candidates
