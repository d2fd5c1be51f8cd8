// Runs the pipeline's two halves.
#include "passes/candidates/PlanCandidate.h"

#include "ir/FirstOf.h"
#include "ir/nn/RecomputedAttr.h"
#include "ir/plan/Plan.h"
#include "passes/candidates/DeviceMemory.h"

using namespace mlir;

namespace syncline::candidates {

/// The bytes that recomputation frees in the program.
static std::int64_t freedIn(ModuleOp module) {
  auto program = firstOf<plan::ProgramOp>(module);
  auto stated =
      program ? program->getAttrOfType<DictionaryAttr>(nn::recomputationAttr) : DictionaryAttr();
  return stated ? nn::freedOf(stated).getInt() : 0;
}

Result<ModuleOp> CandidatePlanner::timedStep(const Candidate &candidate) {
  const std::pair key(candidate.splitTied, candidate.freeArena);
  if (const auto known = timed.find(key); known != timed.end())
    return *known->second;
  OwningOpRef<ModuleOp> module = source.clone();
  if (Status status = runTimedStep(*module, candidate, enter); !status)
    return status;
  return *timed.emplace(key, std::move(module)).first->second;
}

Result<OwningOpRef<ModuleOp>> CandidatePlanner::planOnce(const Candidate &candidate) {
  Result<ModuleOp> step = timedStep(candidate);
  if (!step)
    return step.status();
  OwningOpRef<ModuleOp> plan = step->clone();
  if (Status status = runCommunication(*plan, candidate, enter); !status)
    return status;
  return plan;
}

Result<OwningOpRef<ModuleOp>> CandidatePlanner::plan(Candidate candidate) {
  constexpr int mostPlans = 5;
  // Messages by factors live in the arena, too, and other ready times make other messages: what
  // the plan lacks in the end is added to what recomputation shall free.
  for (int plan = 0;; ++plan) {
    Result<OwningOpRef<ModuleOp>> tried = planOnce(candidate);
    if (!tried || !recomputesToFit)
      return tried;
    const std::int64_t missing = missingBytes(**tried);
    if (missing <= 0 || plan == mostPlans || freedIn(**tried) < candidate.freeArena)
      return tried;
    candidate.freeArena += missing;
  }
}

} // namespace syncline::candidates
