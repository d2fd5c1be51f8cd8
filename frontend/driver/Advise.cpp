// From a plan folder to bucket sizes: a sweep over planners ddp:SIZE.
#include "frontend/driver/Advise.h"

#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/AdviceReport.h"
#include "frontend/sweep/SweepRun.h"
#include "passes/Diagnostics.h"

using namespace mlir;

namespace syncline::driver {

namespace {

/// The plan's own step, simulated as the sizes are: with its decisions, on its cluster.
Result<sweep::SweepPoint> planPoint(const simulate::SimulatedPlan &plan,
                                    cluster::SpecAttr cluster) {
  sweep::SweepOptions kept;
  kept.replan = false;
  SYNCLINE_TRY_GET(sweep,
                   sweep::runSweep(plan, cluster, {sweep::SweepAxis::Kind::slow, 1, 1}, kept));
  return sweep->points.front();
}

} // namespace

Result<std::string> adviseDdp(const std::string &folder) {
  PlanContext context;
  SYNCLINE_TRY_GET(module, readPlanModule(folder, context));
  SYNCLINE_TRY(expectGradientsTravel(**module, folder, "--advise"));
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
  for (const problem::Layer &layer : plan->problem().asPlanned().layers)
    bytes += layer.bytes;
  SYNCLINE_TRY_GET(own, planPoint(*plan, cluster));
  const std::vector<double> sizes = report::ddpSizes(bytes);
  sweep::SweepOptions asDdp; // which waits for its messages before the optimizer's step
  asDdp.overlap = sweep::Overlap::backward;
  SYNCLINE_TRY_GET(
      sweep,
      sweep::runSweep(*plan, cluster,
                      {sweep::SweepAxis::Kind::bucket, sizes.front(), sizes.back(), sizes}, asDdp));
  return report::ddpAdvice(*sweep, *own, bytes);
}

} // namespace syncline::driver
