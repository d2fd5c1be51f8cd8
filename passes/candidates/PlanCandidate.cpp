// Runs the pipeline in three parts.
#include "passes/candidates/PlanCandidate.h"

#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/plan/RankMemory.h"
#include "ir/sync/Sync.h"
#include "passes/candidates/ChooseOrder.h"
#include "passes/merge/WriteProblem.h"
#include "passes/solver/Planner.h"

#include <algorithm>

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
  const StepKey key(candidate.splitTied, candidate.freeArena);
  if (const auto known = timed.find(key); known != timed.end())
    return *known->second;
  OwningOpRef<ModuleOp> module = source.clone();
  SYNCLINE_TRY(runPasses(*module, buildTimedStep, candidate, enter));
  return *timed.emplace(key, std::move(module)).first->second;
}

Result<ModuleOp> CandidatePlanner::solution(Candidate candidate) {
  const std::tuple key(StepKey(candidate.splitTied, candidate.freeArena), candidate.overlap,
                       candidate.planner->name());
  if (const auto known = solved.find(key); known != solved.end())
    return *known->second;
  SYNCLINE_TRY_GET(step, timedStep(candidate));
  OwningOpRef<ModuleOp> module = step->clone();
  candidate.channels = 1;
  SYNCLINE_TRY(runPasses(*module, buildSolution, candidate, enter));
  return *solved.emplace(key, std::move(module)).first->second;
}

Result<OwningOpRef<ModuleOp>> CandidatePlanner::planOnce(const Candidate &candidate) {
  SYNCLINE_TRY_GET(solution, this->solution(candidate));
  OwningOpRef<ModuleOp> plan = solution->clone();
  for (auto answer : plan->getOps<sync::SolutionOp>())
    merge::takeTurns(answer, candidate.channels);
  SYNCLINE_TRY(runPasses(*plan, buildSolved, candidate, enter));
  return plan;
}

/// Writes what was compared into the prediction of the order that was kept.
static void writeDown(ModuleOp plan, const OrderChoice &choice, bool isOwn) {
  std::vector<sync::DisturbedPlan> all = {choice.order, choice.barrier};
  all.insert(all.end(), choice.others.begin(), choice.others.end());
  if (isOwn) { // by 'optimal', though it has not the least mean
    const auto own =
        std::ranges::find(all.begin() + 2, all.end(), "optimal", &sync::DisturbedPlan::planner);
    if (own == all.end()) // too much to simulate
      return;
    std::swap(all.front(), *own);
  }
  sync::setDisturbed(firstOf<sync::PredictionOp>(plan), all);
}

Result<OwningOpRef<ModuleOp>> CandidatePlanner::plan(Candidate candidate) {
  Result<OwningOpRef<ModuleOp>> planned = planFitting(candidate);
  if (!planned || candidate.overlap != plan::overlapStep ||
      !(candidate.planner ? candidate.planner->isOptimal() : true))
    return planned;
  SYNCLINE_TRY_GET(choice, chooseOrder(**planned));
  if (!*choice)
    return planned;
  const bool isOwn = (*choice)->planner->isOptimal();
  if (!isOwn) {
    candidate.planner = (*choice)->planner;
    SYNCLINE_TRY_GET(other, planOnce(candidate));
    if (missingBytes(**other) > 0 && missingBytes(**planned) <= 0) {
      writeDown(**planned, **choice, /*isOwn=*/true);
      return planned;
    }
    planned = std::move(other);
  }
  writeDown(**planned, **choice, /*isOwn=*/false);
  return planned;
}

Result<OwningOpRef<ModuleOp>> CandidatePlanner::planFitting(Candidate &candidate) {
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

std::int64_t missingBytes(ModuleOp plan) {
  const plan::RankMemory memory = plan::rankMemory(plan);
  return memory.isShort() ? memory.needed - *memory.size : 0;
}

} // namespace syncline::candidates
