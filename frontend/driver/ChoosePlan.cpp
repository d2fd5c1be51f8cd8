// Plans in several ways and compares predicted steps.
#include "frontend/driver/ChoosePlan.h"

#include "frontend/driver/ChooseOverlap.h"
#include "frontend/driver/ChoosePasses.h"
#include "frontend/driver/PredictedStep.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "ir/sync/WholeAttr.h"
#include "syncline/RowsPart.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace syncline::driver {
namespace {

/// Whether some parameter is the table of an embedding and has one other reader. Whether its
/// gradient has two parts then, only the backward pass shows.
bool hasTied(ModuleOp module) {
  for (auto step : module.getOps<nn::StepOp>())
    for (auto parameter : step.getOps<nn::ParameterOp>())
      if (!parameter->hasOneUse() && llvm::any_of(parameter->getUsers(), [](Operation *reader) {
            return isa<nn::EmbeddingOp>(reader);
          }))
        return true;
  return false;
}

/// Whether a plan in two parts is worth trying: other planners follow systems that send gradients
/// whole, steps that overlap have updates of one bucket, and rows would be added in each pass.
bool maySplit(const CompileOptions &options, const PlanWay &way, ModuleOp module) {
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  return way.overlap == "backward" && way.planner->isOptimal() && options.consistency == "bsp" &&
         options.accumulate == 1 && spec.getRanks() > 1 && hasTied(module);
}

/// Whether a gradient of the plan travels in two parts.
bool isSplit(ModuleOp plan) {
  for (auto program : plan.getOps<plan::ProgramOp>())
    for (auto bucket : program.getOps<plan::BucketOp>())
      if (isRowsPart(cast<StringAttr>(bucket.getMembers()[0]).getValue()))
        return true;
  return false;
}

/// Plans the module with tied gradients whole or in two parts, as the options say; "auto" plans
/// both ways and takes two parts where these save leastGain of the step.
Status planTied(const CompileOptions &options, PlanWay way, OwningOpRef<ModuleOp> &module,
                const EnterPhase &enter) {
  if (options.splitTied == "always") {
    way.splitsTied = true;
    if (Status planned = planWith(options, way, module, enter); !planned || isSplit(*module))
      return planned;
    return Status::badInput("--split-tied always: '" + options.model +
                            "' has no table that an embedding and one other operation read");
  }
  OwningOpRef<ModuleOp> parts;
  if (options.splitTied == "auto" && maySplit(options, way, *module))
    parts = module->clone();
  if (Status planned = planWith(options, way, module, enter); !planned || !parts)
    return planned;
  way.splitsTied = true;
  if (Status planned = planWith(options, way, parts, enter); !planned)
    return planned.kind() == ErrorKind::internal ? planned : Status::ok(); // whole, then
  const double whole = stepOf(*module);
  if (stepOf(*parts) >= whole * (1 - leastGain))
    return Status::ok();
  firstOf<sync::PredictionOp>(*parts)->setAttr(sync::wholeAttr,
                                               Builder(parts->getContext()).getF64FloatAttr(whole));
  module = std::move(parts);
  return Status::ok();
}

/// Plans the module with tied gradients as planTied() does, and with what choosePasses() lets
/// travel in each pass.
Status planSteps(const CompileOptions &options, const PlanWay &way, OwningOpRef<ModuleOp> &module,
                 const EnterPhase &enter) {
  return choosePasses(options.accumulate, way, module,
                      [&](const PlanWay &with, OwningOpRef<ModuleOp> &tried) {
                        return planTied(options, with, tried, enter);
                      });
}

/// Plans the module for so many channels, with the requested overlap or with the one that
/// chooseOverlap() takes. Returns why that one, for people.
Result<std::string> planOn(int channels, const CompileOptions &options,
                           const std::shared_ptr<const solver::Planner> &planner,
                           OwningOpRef<ModuleOp> &module, const EnterPhase &enter) {
  auto spec = (*module)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  std::string overlap = overlapFor(*planner, options.overlap);
  if (overlap == "auto" && spec.getRanks() == 1)
    overlap = "backward"; // nothing is sent
  if (overlap != "auto") {
    if (Status planned = planSteps(options, {planner, overlap, channels}, module, enter); !planned)
      return planned;
    return std::string();
  }
  const auto copy = [&](const PlannerRef &by,
                        const std::string &with) -> Result<OwningOpRef<ModuleOp>> {
    OwningOpRef<ModuleOp> tried = module->clone();
    if (Status planned = planSteps(options, {by, with, channels}, tried, enter); !planned)
      return planned;
    return tried;
  };
  Result<ChosenPlan> chosen = chooseOverlap(planner, !options.clipNorm, copy);
  if (!chosen)
    return chosen.status();
  module = std::move(chosen->module);
  return chosen->reason;
}

} // namespace

Result<std::string> choosePlan(const CompileOptions &options,
                               const std::shared_ptr<const solver::Planner> &planner,
                               OwningOpRef<ModuleOp> &module, const EnterPhase &enter) {
  if (options.channels != "auto")
    return planOn(std::stoi(options.channels), options, planner, module, enter);
  OwningOpRef<ModuleOp> onTwo = module->clone();
  Result<std::string> one = planOn(1, options, planner, module, enter);
  if (!one)
    return one;
  Result<std::string> two = planOn(2, options, planner, onTwo, enter);
  if (!two && two.status().kind() == ErrorKind::internal)
    return two;
  if (!two || !isShorter(stepOf(*onTwo), stepOf(*module)))
    return one;
  module = std::move(onTwo);
  return two;
}

} // namespace syncline::driver
