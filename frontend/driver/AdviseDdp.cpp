// Simulates the steps that DistributedDataParallel's buckets would give a plan's model.
#include "frontend/driver/AdviseDdp.h"

#include "codegen/folder/PlanFolder.h"
#include "codegen/folder/SmallerPlans.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/AdviceReport.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Provenance.h"
#include "frontend/sweep/SweepRun.h"
#include "ir/FirstOf.h"
#include "ir/sync/Sync.h"
#include "passes/Diagnostics.h"

#include <nlohmann/json.hpp>

namespace syncline::driver {

namespace {

using sweep::SweepAxis;

/// The step at the axis' only value.
Result<sweep::SweepPoint> stepAt(const simulate::SimulatedPlan &plan, const SweepAxis &axis,
                                 const sweep::SweepOptions &options) {
  SYNCLINE_TRY_GET(sweep, sweep::runSweep(plan, plan.problem().cluster(), axis, options));
  return sweep->points.front();
}

/// DDP's hook that sends gradients in the plan's precision.
std::string hookFor(WirePrecision wire) {
  return wire == WirePrecision::fp32 ? "allreduce_hook"
                                     : std::string(wireName(wire)) + "_compress_hook";
}

Result<report::DdpSteps> simulateDdp(const simulate::SimulatedPlan &plan) {
  std::vector<report::ModuleBytes> modules;
  std::int64_t total = 0;
  bool begins = true;
  for (const problem::Layer &layer : plan.problem().asPlanned().layers) {
    if (begins)
      modules.emplace_back();
    modules.back().push_back(layer.bytes);
    total += layer.bytes;
    begins = layer.endsModule;
  }
  const std::vector<double> sizes = report::ddpSizes(total);
  sweep::SweepOptions asPlanned, asDdp;
  asPlanned.replan = false;
  asDdp.overlap = sweep::Overlap::backward; // DDP waits for its messages before the optimizer
  SYNCLINE_TRY_GET(own, stepAt(plan, {SweepAxis::Kind::slow, 1, 1}, asPlanned));
  SYNCLINE_TRY_GET(list, stepAt(plan, {SweepAxis::Kind::planner, 0, 0, {0}, {"ddp-list"}}, asDdp));
  SYNCLINE_TRY_GET(
      swept, sweep::runSweep(plan, plan.problem().cluster(),
                             {SweepAxis::Kind::bucket, sizes.front(), sizes.back(), sizes}, asDdp));
  return report::DdpSteps{.sizes = std::move(*swept),
                          .list = std::move(*list),
                          .plan = std::move(*own),
                          .modules = std::move(modules),
                          .hook = "",
                          .sources = "",
                          .isTrace = false,
                          .hasFrozen = false};
}

/// Whether the plan was told which parameters of its model are trained.
bool hasFrozen(const nlohmann::json &document) {
  const nlohmann::json options = document.value("options", nlohmann::json());
  return options.is_object() &&
         (!options.at("freeze").empty() || options.at("parameters").is_array());
}

} // namespace

Result<std::string> adviseDdp(const std::string &folder) {
  PlanContext context;
  SYNCLINE_TRY_GET(folders, codegen::readSmaller(folder));
  if (folders->batches)
    return Status::badInput("'" + folder +
                            "': its ranks have batches of their own, and DistributedDataParallel "
                            "counts all ranks alike: expected a plan without '--balance'");
  SYNCLINE_TRY_GET(module, readPlanModule(folder, context));
  SYNCLINE_TRY(expectGradientsTravel(**module, folder, "--advise"));
  DiagnosticCollector diagnostics(&context);
  Result<simulate::SimulatedPlan> plan = simulate::SimulatedPlan::create(**module);
  if (!plan)
    return diagnostics.status("'" + folder + "/plan.mlir': " + plan.status().message());
  if (plan->problem().cluster().getRanks() == 1)
    return Status::badInput("'" + folder +
                            "': one rank sends nothing, whatever DistributedDataParallel's "
                            "buckets");
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(folder));
  bool isFrozen = false;
  SYNCLINE_TRY_GET(sources, report::guarded([&] {
                     isFrozen = hasFrozen(*document);
                     return report::provenanceText(document->at("provenance"),
                                                   document->at("cluster"));
                   }));
  SYNCLINE_TRY_GET(steps, simulateDdp(*plan));
  // A trace that is read off a step has gradients as layers.
  auto trace = firstOf<sync::TraceOp>(**module);
  steps->isTrace = trace && !trace.getOfStep();
  steps->hasFrozen = isFrozen;
  steps->hook = hookFor(cluster::wireOf(**module));
  steps->sources = std::move(*sources);
  return report::ddpAdvice(*steps);
}

} // namespace syncline::driver
