// From a plan to the simulation of each consistency.
#include "frontend/sweep/ConsistencyRun.h"

#include "frontend/sweep/SlowRanks.h"
#include "ir/FirstOf.h"
#include "ir/sync/Consistency.h"
#include "passes/simulate/Simulation.h"
#include "passes/simulate/SimulationSize.h"
#include "passes/simulate/ir/ReadWorkers.h"

#include <algorithm>

namespace syncline::sweep {

namespace {

/// The plan's own messages. With jitter as many steps as fit, at most those of the other forms.
Status simulateGradients(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                         const SweepOptions &options, ConsistencyPoint &point) {
  if (firstOf<sync::ProblemOp>(plan.planModule()).getConsistency())
    return Status::badInput("the plan has no messages of gradients: compile it without "
                            "'--consistency' to compare with 'bsp'");
  SYNCLINE_TRY_GET(scenario, plan.asPlanned(cluster));
  SYNCLINE_TRY(slowRanks(scenario->machines, options.slow));
  constexpr int jitteredSteps = 100;
  scenario->warmUp = plan.problem().hasOrder() ? simulate::carriedWarmUp : 0;
  scenario->steps =
      scenario->warmUp + options.steps.value_or(options.jitter > 0 ? jitteredSteps : 1);
  scenario->jitter = options.jitter;
  scenario->seed = options.seed;
  SYNCLINE_TRY(simulate::expectFits(*scenario, {}));
  SYNCLINE_TRY_GET(simulation, simulate::runScenario(*scenario));
  SYNCLINE_TRY_GET(posed, plan.problem().poseOn(cluster, 1));
  double computed = 0, slowdown = 0;
  for (const simulate::Operation &op : scenario->operations)
    computed += op.seconds;
  for (int rank = 0; rank < point.ranks; ++rank)
    slowdown += scenario->machines.slowdownOf(rank) / point.ranks;
  point.step = simulation->stepSeconds();
  point.waiting = std::max(0.0, 1 - computed * slowdown / point.step);
  point.traffic = plan.decisions().traffic(*posed);
  return Status::ok();
}

Status simulateWorkers(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       sync::ConsistencyAttr consistency, const SweepOptions &options,
                       ConsistencyPoint &point) {
  SYNCLINE_TRY_GET(scenario, simulate::readWorkers(plan, cluster, consistency));
  SYNCLINE_TRY(slowRanks(scenario->machines, options.slow));
  scenario->steps = options.steps.value_or(consistencySteps(point.ranks));
  scenario->jitter = options.jitter;
  scenario->seed = options.seed;
  SYNCLINE_TRY_GET(simulation, simulate::runWorkers(*scenario));
  point.step = simulation->stepSeconds();
  point.waiting = simulation->waitingShare();
  point.traffic = simulation->traffic;
  point.hasServers = scenario->consistency.hasServers();
  point.staleness = simulation->staleness;
  point.largestLead = simulation->largestLead;
  point.serverLoad = simulation->serverLoad;
  point.lockLoad = simulation->lockLoad;
  point.waits = simulation->waiting;
  for (double steps : simulation->steps)
    point.rates.push_back(steps / simulation->seconds);
  return Status::ok();
}

} // namespace

int consistencySteps(std::int64_t ranks) {
  return static_cast<int>(std::clamp<std::int64_t>(16'000 / ranks, 20, 1'000));
}

Result<ConsistencyPoint> runConsistency(const simulate::SimulatedPlan &plan,
                                        cluster::SpecAttr cluster, const std::string &form,
                                        const SweepOptions &options) {
  Result<sync::ConsistencyAttr> consistency = sync::parseConsistency(form, cluster.getContext());
  if (!consistency)
    return Status::error(ErrorKind::badUsage, consistency.status().message());
  ConsistencyPoint point{.form = form,
                         .ranks = static_cast<int>(cluster.getRanks()),
                         .samples = static_cast<double>(plan.samples().value_or(0)),
                         .alone = plan.aloneSeconds(1)};
  SYNCLINE_TRY(*consistency ? simulateWorkers(plan, cluster, *consistency, options, point)
                            : simulateGradients(plan, cluster, options, point));
  return point;
}

Result<ConsistencySweep> runConsistencies(const simulate::SimulatedPlan &plan,
                                          cluster::SpecAttr cluster,
                                          const std::vector<std::string> &forms,
                                          const SweepOptions &options) {
  ConsistencySweep sweep;
  for (const std::string &form : forms) {
    Result<ConsistencyPoint> point = runConsistency(plan, cluster, form, options);
    if (point)
      sweep.points.push_back(std::move(*point));
    else if (point.status().kind() == ErrorKind::badInput)
      sweep.refused.push_back({form, point.status().message()});
    else
      return point.status();
  }
  if (sweep.points.empty())
    return Status::badInput("'" + sweep.refused.front().form +
                            "': " + sweep.refused.front().reason);
  return sweep;
}

} // namespace syncline::sweep
