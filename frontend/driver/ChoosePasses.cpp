// Plans with what travels in each pass, with less of it and with none, and compares.
#include "frontend/driver/ChoosePasses.h"

#include "frontend/driver/PredictedStep.h"
#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/GatheringAttr.h"
#include "ir/sync/Sync.h"
#include "passes/solver/Planner.h"
#include "syncline/Scheme.h"

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>
#include <vector>

using namespace mlir;

namespace syncline::driver {

/// Whether a bucket of the plan travels in each pass.
static bool gathers(ModuleOp plan) {
  for (auto program : plan.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (isGathered(bucket.getScheme()))
        return true;
  return false;
}

/// A plan of the module by one planner, or why there is none.
struct Tried {
  Status status;
  OwningOpRef<ModuleOp> module;

  bool isPlanned() const { return status.isOk(); }
  /// Precondition: isPlanned().
  double step() const { return stepOf(*module); }
};

/// The planners that count what travels in each pass. Orders know two: their periods have times of
/// their own for factors.
static std::vector<std::shared_ptr<const solver::Planner>>
pricedPlanners(std::int64_t passes, const std::string &overlap) {
  if (overlap == "step")
    return {solver::sumsPlanner()};
  return {solver::passesPlanner(passes), solver::sumsPlanner()};
}

Status choosePasses(std::int64_t passes, const PlanWay &way, OwningOpRef<ModuleOp> &module,
                    const PlanOneWay &plan) {
  if (passes == 1 || !way.planner->isOptimal())
    return plan(way, module);
  OwningOpRef<ModuleOp> unplanned = module->clone();
  Tried best{plan(way, module), {}};
  if (best.isPlanned() ? !gathers(*module) : best.status.kind() == ErrorKind::internal)
    return best.status;
  best.module = std::move(module);
  const std::optional<double> gathering =
      best.isPlanned() ? std::optional(best.step()) : std::nullopt;
  for (const auto &planner : pricedPlanners(passes, way.overlap)) {
    PlanWay priced = way;
    priced.planner = planner;
    Tried next{Status::ok(), unplanned->clone()};
    next.status = plan(priced, next.module);
    if (!next.isPlanned() && next.status.kind() == ErrorKind::internal)
      return next.status;
    if (next.isPlanned() && (!best.isPlanned() || isShorter(next.step(), best.step())))
      best = std::move(next);
  }
  module = std::move(best.module);
  auto prediction = best.isPlanned() ? firstOf<sync::PredictionOp>(*module) : sync::PredictionOp();
  if (prediction && gathering && isShorter(prediction.getStep().convertToDouble(), *gathering))
    prediction->setAttr(sync::gatheringAttr,
                        Builder(module->getContext()).getF64FloatAttr(*gathering));
  return best.status;
}

} // namespace syncline::driver
