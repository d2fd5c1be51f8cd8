// From a plan folder to bucket sizes: a sweep over planners ddp:SIZE.
#include "frontend/driver/Advise.h"

#include "frontend/driver/Diagnostics.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/sweep/SweepRun.h"
#include "passes/RegisterAll.h"

using namespace mlir;

namespace syncline::driver {

namespace {

/// The plan's own step, of the same kind as the sizes': its decisions where it was planned.
Result<SweepPoint> planPoint(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster) {
  SimulateOptions kept;
  kept.replan = false;
  Result<Sweep> sweep = runSweep(plan, cluster, {SweepAxis::Kind::slow, 1, 1}, kept);
  if (!sweep)
    return sweep.status();
  return sweep->points.front();
}

} // namespace

Result<std::string> adviseDdp(const std::string &folder) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Result<OwningOpRef<ModuleOp>> module = readPlanModule(folder, context);
  if (!module)
    return module.status();
  DiagnosticCollector diagnostics(&context);
  Result<simulate::SimulatedPlan> plan = simulate::SimulatedPlan::create(**module);
  if (!plan)
    return diagnostics.status("'" + folder + "/plan.mlir': " + plan.status().message());
  const cluster::SpecAttr cluster = plan->problem().cluster();
  if (cluster.getRanks() == 1)
    return Status::badInput("'" + folder +
                            "': one rank sends nothing, whatever DistributedDataParallel's "
                            "buckets");
  std::int64_t bytes = 0;
  for (const solver::JointLayer &layer : plan->problem().asPlanned().layers)
    bytes += layer.bytes;
  Result<SweepPoint> own = planPoint(*plan, cluster);
  if (!own)
    return own.status();
  const std::vector<double> sizes = ddpSizes(bytes);
  Result<Sweep> sweep =
      runSweep(*plan, cluster, {SweepAxis::Kind::bucket, sizes.front(), sizes.back(), sizes}, {});
  if (!sweep)
    return sweep.status();
  return ddpAdvice(*sweep, *own, bytes);
}

} // namespace syncline::driver
