// The same problem elsewhere, decided anew or as it was.
#include "frontend/driver/SweepRun.h"

#include "frontend/driver/SimulationSize.h"
#include "passes/simulate/Simulation.h"
#include "passes/solver/Planner.h"

#include <algorithm>
#include <cmath>

namespace syncline::driver {

namespace {

using simulate::Scenario;
using simulate::Simulation;
using solver::JointPlan;
using solver::JointProblem;
using Kind = SweepAxis::Kind;

/// The network's latency, the servers' and that of formulas over the network.
cluster::SpecAttr withLatency(cluster::SpecAttr spec, double seconds) {
  mlir::MLIRContext *context = spec.getContext();
  auto slow = [&](cluster::LinkAttr link) {
    return link ? cluster::LinkAttr::get(context, seconds, link.getBeta(), link.getGamma()) : link;
  };
  llvm::SmallVector<cluster::CollectiveAttr> collectives;
  for (cluster::CollectiveAttr stated : spec.getCollectives()) {
    auto formula = mlir::dyn_cast<cluster::FormulaAttr>(stated.getCost());
    collectives.push_back(
        formula ? cluster::CollectiveAttr::get(
                      context, stated.getScheme(),
                      cluster::FormulaAttr::get(context, formula.getAlgorithm(), formula.getRanks(),
                                                seconds, formula.getBeta(), formula.getGamma()))
                : stated);
  }
  cluster::ServersAttr servers = spec.getServers();
  if (servers)
    servers = cluster::ServersAttr::get(context, servers.getCount(), servers.getDedicated(),
                                        slow(servers.getLink()), servers.getMemory());
  llvm::SmallVector<cluster::OverrideAttr> overrides;
  for (cluster::OverrideAttr own : spec.getOverrides())
    overrides.push_back(cluster::OverrideAttr::get(context, own.getNodes(), own.getSlowdown(),
                                                   slow(own.getLink())));
  return cluster::SpecAttr::get(context, spec.getName(), spec.getRanks(), spec.getDevicesPerNode(),
                                spec.getCardsPerNode(), spec.getDevice(), slow(spec.getLink()),
                                spec.getInside(), spec.getHalfDuplex(), spec.getInterference(),
                                collectives, servers, spec.getLargestMessage(), overrides,
                                spec.getNccl());
}

class Sweeper {
public:
  Sweeper(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
          const SimulateOptions &options, const solver::Planner &planner)
      : plan(plan), cluster(cluster), options(options), planner(planner) {}

  Result<SweepPoint> at(Kind kind, double value) const {
    simulate::Elsewhere where{cluster};
    explain::Change change;
    double slowest = 1; // of rank 0
    switch (kind) {
    case Kind::bandwidth:
      change.bandwidth = value * cluster.getLink().getBeta();
      break;
    case Kind::latency:
      where.cluster = withLatency(cluster, value);
      break;
    case Kind::ranks:
      change.ranks = std::llround(value);
      break;
    case Kind::batch:
      where.batch = value / static_cast<double>(*plan.samples());
      break;
    case Kind::slow:
      slowest = value;
      break;
    }
    Result<cluster::SpecAttr> there = explain::changed(where.cluster, change);
    if (!there)
      return there.status();
    where.cluster = *there;
    Result<SweepPoint> point = simulateThere(where, slowest);
    if (point)
      point->value = value;
    return point;
  }

private:
  Result<SweepPoint> simulateThere(const simulate::Elsewhere &where, double slowest) const {
    Result<JointProblem> posed = plan.problem().poseOn(where.cluster, where.batch);
    if (!posed)
      return posed.status();
    simulate::Machines machines = simulate::machinesOf(where.cluster);
    if (Status slowed = slowDown(machines, slowest); !slowed)
      return slowed;
    Result<JointPlan> decisions = decide(*posed, where.cluster, machines);
    if (!decisions)
      return decisions.status();
    Result<Scenario> scenario = plan.withDecisions(*posed, *decisions, where);
    if (!scenario)
      return scenario.status();
    scenario->machines.slowdown = machines.slowdown;
    scenario->steps = options.steps;
    scenario->jitter = options.jitter;
    scenario->seed = options.seed;
    if (Status fits = expectFits(*scenario, {}); !fits)
      return fits;
    Result<Simulation> simulation = simulate::runScenario(*scenario);
    if (!simulation)
      return simulation.status();
    return pointOf(*scenario, *simulation, *posed, *decisions);
  }

  /// Every rank waits for the slowest, so that a planner sees gradients as late as that has them:
  /// `posed` has them as late as the cluster's slowest node does.
  Result<JointPlan> decide(const JointProblem &posed, cluster::SpecAttr there,
                           const simulate::Machines &machines) const {
    if (!options.replan)
      return plan.decisions();
    const double slowest = slowestOf(machines) / cluster::slowdown(there);
    JointProblem waiting = posed;
    waiting.computeFree *= slowest;
    for (solver::JointLayer &layer : waiting.layers) {
      layer.ready *= slowest;
      for (solver::SoloOption &solo : layer.solos)
        solo.rebuild *= slowest;
    }
    Result<solver::PlanResult> planned = planner.plan(waiting);
    if (!planned)
      return planned.status();
    return std::move(planned->plan);
  }

  Status slowDown(simulate::Machines &machines, double slowest) const {
    auto slow = [&](int rank, double factor) {
      machines.slowdown.resize(static_cast<std::size_t>(machines.ranks), 1);
      machines.slowdown[static_cast<std::size_t>(rank)] *= factor;
    };
    if (slowest != 1)
      slow(0, slowest);
    for (auto [rank, factor] : options.slow) {
      if (rank >= machines.ranks)
        return Status::badInput("--slow: there is no rank " + std::to_string(rank) + " of " +
                                std::to_string(machines.ranks));
      slow(rank, factor);
    }
    return Status::ok();
  }

  static double slowestOf(const simulate::Machines &machines) {
    return machines.slowdown.empty() ? 1 : *std::ranges::max_element(machines.slowdown);
  }

  static SweepPoint pointOf(const Scenario &scenario, const Simulation &simulation,
                            const JointProblem &posed, const JointPlan &decisions) {
    SweepPoint point{.step = simulation.stepSeconds(),
                     .exposed = simulation.exposed(scenario),
                     .communicationEnd = simulation.communicationEnd(0),
                     .hasWhole = std::ranges::count(simulation.isWhole, true) > 0,
                     .schemes = std::vector<solver::Scheme>(posed.layers.size()),
                     .messages = std::vector<int>(posed.layers.size(), -1)};
    const double slowest = slowestOf(scenario.machines);
    for (const simulate::Operation &op : scenario.operations)
      point.compute += op.seconds * slowest;
    for (std::size_t i = 0; i < decisions.messages.size(); ++i)
      for (std::size_t layer : decisions.messages[i].layers) {
        point.schemes[layer] = decisions.scheme(posed, decisions.messages[i]);
        point.messages[layer] = static_cast<int>(i);
      }
    for (std::size_t rider : decisions.riders) {
      const std::size_t carrier = *posed.layers[rider].carrier;
      point.schemes[rider] = point.schemes[carrier];
      point.messages[rider] = point.messages[carrier];
    }
    return point;
  }

  const simulate::SimulatedPlan &plan;
  cluster::SpecAttr cluster;
  const SimulateOptions &options;
  const solver::Planner &planner;
};

/// Whether the axis makes sense for this plan on this cluster.
Status checkAxis(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster, Kind kind) {
  const std::string name = "--sweep " + std::string(axisName(kind)) + ": ";
  if (kind == Kind::batch && !plan.samples())
    return Status::badInput(name + "the trace does not say how many samples a rank has (column K)");
  if (kind == Kind::batch || kind == Kind::slow)
    return Status::ok();
  for (cluster::CollectiveAttr stated : cluster.getCollectives())
    if (!mlir::isa<cluster::FormulaAttr>(stated.getCost()))
      return Status::badInput(name + "cluster '" + cluster.getName().str() +
                              "' states a measured time of '" +
                              cluster::stringifyScheme(stated.getScheme()).str() +
                              "', which holds for its own links and ranks");
  if (kind != Kind::ranks && !cluster.getLink())
    return Status::badInput(name + "cluster '" + cluster.getName().str() + "' has no network");
  return Status::ok();
}

} // namespace

Result<Sweep> runSweep(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       const SweepAxis &axis, const SimulateOptions &options) {
  if (Status possible = checkAxis(plan, cluster, axis.kind); !possible)
    return possible;
  Result<std::shared_ptr<const solver::Planner>> planner = solver::parsePlanner(plan.planner());
  if (!planner)
    return planner.status();
  Sweep sweep{axis, options.replan, plan.names(), {}};
  const Sweeper sweeper(plan, cluster, options, **planner);
  const auto values =
      sweepValues(axis, options.points, static_cast<int>(cluster.getDevicesPerNode()));
  if (values.empty())
    return Status::badInput("--sweep ranks: expected a multiple of " +
                            std::to_string(cluster.getDevicesPerNode()) +
                            " ranks, which a node has, in the range");
  for (double value : values) {
    Result<SweepPoint> point = sweeper.at(axis.kind, value);
    if (!point)
      return Status::badInput("at " + std::string(axisName(axis.kind)) + " " +
                              axisValue(axis.kind, value) + ": " + point.status().message());
    sweep.points.push_back(std::move(*point));
  }
  return sweep;
}

} // namespace syncline::driver
