// Looks the doubt up, and has the plan judged by it.
#include "frontend/driver/StepDoubt.h"

#include "frontend/driver/PlanAsked.h"
#include "frontend/files/DeviceTable.h"
#include "ir/FirstOf.h"
#include "passes/candidates/StepRange.h"
#include "passes/solver/Planner.h"

#include <algorithm>

using namespace mlir;

namespace syncline::driver {

std::optional<report::StepDoubt> doubtOf(const files::DeviceRates &device) {
  const auto doubt =
      device.kernels ? files::doubtOf(device.kind, device.kernels->like) : std::nullopt;
  return doubt && doubt->isRange() ? std::optional(report::StepDoubt{doubt->ninth, doubt->runs})
                                   : std::nullopt;
}

Status addRange(const CompileRequest &request, ModuleOp source, ModuleOp plan,
                const EnterPhase &enter) {
  constexpr double most = 0.95; // a step without computation says nothing
  const auto doubt = doubtOf(request.cluster.device);
  if (!doubt || request.profile || !request.openForms.empty() ||
      !request.plan.asked.planner->plansAnew())
    return Status::ok();
  SYNCLINE_TRY_GET(range,
                   candidates::stepRange(request.plan, source, plan, std::min(doubt->share, most),
                                         doubt->runs, expectFits(request.paths), enter));
  if (*range)
    sync::setRange(firstOf<sync::PredictionOp>(plan), **range);
  return Status::ok();
}

} // namespace syncline::driver
