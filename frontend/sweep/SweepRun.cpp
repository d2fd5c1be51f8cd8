// Simulates a plan's problem at each value of an axis, planned anew or with its decisions.
#include "frontend/sweep/SweepRun.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/sweep/SlowRanks.h"
#include "ir/cluster/SpecFields.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/proof/OrderChecker.h"
#include "passes/simulate/Simulation.h"
#include "passes/simulate/SimulationSize.h"
#include "passes/solver/OrderPlanner.h"
#include "passes/solver/Planner.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace syncline::sweep {

namespace {

using problem::Problem;
using problem::Solution;
using simulate::Scenario;
using simulate::Simulation;
using Kind = SweepAxis::Kind;

/// Sets the latency of the network, of the servers and of formulas over the network.
cluster::SpecAttr withLatency(cluster::SpecAttr spec, double seconds) {
  cluster::SpecFields fields(spec);
  fields.changeNetwork([&](cluster::LinkAttr link) { return cluster::withAlpha(link, seconds); });
  return fields.get(spec.getContext());
}

/// The cluster and the planner at one value of an axis.
struct Place {
  simulate::Elsewhere where;
  double slowest = 1;  ///< how many times as long rank 0 computes
  std::string planner; ///< replaces the plan's planner

  Overlap overlap() const { return where.isOrder ? Overlap::step : Overlap::backward; }
};

/// What a grid's column has in common.
struct Fixed {
  const SweepAxis *axis;
  double value = 0;
};

/// What a planner decided, or the plan's decisions.
struct Decisions {
  Solution plan;
  std::optional<double> gap; ///< of the planned step to the bound
};

/// The problem as a rank sees it that computes `slowest` times as long.
Problem waiting(Problem problem, double slowest) {
  problem.computeFree *= slowest;
  for (problem::Layer &layer : problem.layers) {
    layer.ready *= slowest;
    for (problem::FactorOption &factorOption : layer.factorOptions)
      factorOption.reconstruct *= slowest;
  }
  return problem;
}

problem::OrderProblem waiting(problem::OrderProblem problem, double slowest) {
  problem.sync = waiting(std::move(problem.sync), slowest);
  problem.forward *= slowest;
  for (double &tail : problem.tail)
    tail *= slowest;
  for (double &update : problem.update)
    update *= slowest;
  return problem;
}

Result<Decisions> planInReadyOrder(const Problem &problem, const solver::Planner &planner) {
  SYNCLINE_TRY_GET(planned, planner.plan(problem));
  const double gap = planned->gap();
  return Decisions{std::move(planned->plan), gap};
}

/// Judged, since a table of a sweep has no certificate that others could check.
Result<Decisions> planAcrossSteps(const problem::OrderProblem &problem,
                                  const solver::Planner &planner) {
  SYNCLINE_TRY(problem::validate(problem));
  SYNCLINE_TRY_GET(planned, solver::planOrder(problem, planner));
  Solution messages = problem::messagesOf(problem, planned->solution);
  auto rejection = proof::checkMessages(problem, messages);
  if (!rejection)
    rejection = proof::checkOrderBound(problem, planned->certificate, planned->solution.period);
  if (rejection)
    return Status::error(ErrorKind::internal,
                         "planner '" + planner.name() + "' is wrong: " + rejection->message);
  return Decisions{std::move(messages), planned->gap()};
}

/// Refuses ranks that are neither whole nodes nor a part of one node.
Status expectWholeNodes(cluster::SpecAttr cluster, std::int64_t ranks) {
  const std::int64_t devices = cluster.getDevicesPerNode();
  if (ranks < devices || ranks % devices == 0)
    return Status::ok();
  return Status::badInput("expected a multiple of " + std::to_string(devices) +
                          " ranks, which a node has, or fewer");
}

class Sweeper {
public:
  Sweeper(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
          const SweepOptions &options, std::optional<Fixed> fixed)
      : plan(plan), cluster(cluster), options(options), fixed(fixed) {}

  Result<SweepPoint> at(const SweepAxis &axis, double value) const {
    SYNCLINE_TRY_GET(place, placeOf(axis, value));
    const bool isAlone = place->where.cluster.getRanks() == 1;
    SYNCLINE_TRY_GET(point, isAlone ? simulateAlone(*place) : simulateThere(*place));
    point->value = value;
    point->ranks = place->where.cluster.getRanks();
    point->samples =
        static_cast<double>(plan.samples().value_or(0) * plan.microBatches()) * place->where.batch;
    point->alone = plan.aloneSeconds(place->where.batch);
    return point;
  }

private:
  Overlap planned() const { return plan.problem().hasOrder() ? Overlap::step : Overlap::backward; }

  Result<Place> placeOf(const SweepAxis &axis, double value) const {
    const bool isOrder = options.overlap.value_or(planned()) == Overlap::step;
    Place place{.where = {.cluster = cluster, .isOrder = isOrder}, .planner = plan.planner()};
    merge::Change change;
    if (fixed)
      apply(*fixed->axis, fixed->value, place, change);
    apply(axis, value, place, change);
    const bool setsRanks = axis.kind == Kind::ranks || (fixed && fixed->axis->kind == Kind::ranks);
    if (Status whole = expectWholeNodes(cluster, change.ranks.value_or(cluster.getRanks()));
        setsRanks && !whole)
      return whole;
    SYNCLINE_TRY_GET(there, merge::changed(place.where.cluster, change));
    place.where.cluster = *there;
    return place;
  }

  void apply(const SweepAxis &axis, double value, Place &place, merge::Change &change) const {
    switch (axis.kind) {
    case Kind::bandwidth:
      change.bandwidth = value * cluster.getLink().getBeta();
      break;
    case Kind::latency:
      place.where.cluster = withLatency(cluster, value);
      break;
    case Kind::ranks:
      change.ranks = std::llround(value);
      break;
    case Kind::nodes:
      change.ranks = std::llround(value) * cluster.getDevicesPerNode();
      break;
    case Kind::batch:
      place.where.batch = value / static_cast<double>(*plan.samples());
      break;
    case Kind::slow:
      place.slowest = value;
      break;
    case Kind::bucket:
      place.planner = "ddp:" + std::to_string(std::llround(value)) + "B";
      break;
    case Kind::overlap:
      place.where.isOrder = static_cast<Overlap>(std::llround(value)) == Overlap::step;
      break;
    case Kind::planner:
      place.planner = axisValue(axis, value);
      break;
    }
  }

  /// Sets how a step of so many of the scenario's micro-batches is simulated, and checks its size.
  Status prepare(Scenario &scenario, bool isOrder, std::int64_t microBatches) const {
    scenario.warmUp = isOrder ? simulate::carriedWarmUp : 0;
    scenario.steps = options.steps.value_or(1) + scenario.warmUp;
    scenario.jitter = options.jitter;
    scenario.seed = options.seed;
    return simulate::expectFits(scenario, {}, microBatches);
  }

  Result<SweepPoint> simulateAlone(const Place &place) const {
    const Problem &problem = plan.problem().asPlanned();
    SYNCLINE_TRY(expectMemory(plan.memory(problem, {}, place.where), place.where.cluster));
    Scenario scenario = plan.alone(place.where.batch);
    for (cluster::OverrideAttr own : place.where.cluster.getOverrides())
      if (own.getNodes().front() == 0)
        scenario.machines.slowdown = {own.getSlowdown()};
    SYNCLINE_TRY(slowDown(scenario.machines, place.slowest));
    SYNCLINE_TRY(prepare(scenario, false, 1));
    SYNCLINE_TRY_GET(simulation, simulate::runScenario(scenario));
    SweepPoint point = pointOf(scenario, *simulation, problem, {});
    point.schemes.clear();
    point.messages.clear();
    return point;
  }

  Result<SweepPoint> simulateThere(const Place &place) const {
    const simulate::Elsewhere &where = place.where;
    SYNCLINE_TRY_GET(posed, plan.problem().poseOn(where.cluster, where.batch));
    simulate::Machines machines = simulate::machinesOf(where.cluster);
    SYNCLINE_TRY(slowDown(machines, place.slowest));
    SYNCLINE_TRY_GET(decisions, decide(*posed, place, machines));
    SYNCLINE_TRY(expectMemory(plan.memory(*posed, decisions->plan, where), where.cluster));
    SYNCLINE_TRY_GET(scenario, plan.withDecisions(*posed, decisions->plan, where));
    scenario->machines.slowdown = machines.slowdown;
    SYNCLINE_TRY(prepare(*scenario, where.isOrder, plan.microBatches()));
    *scenario = plan.wholeStep(*scenario);
    SYNCLINE_TRY_GET(simulation, simulate::runScenario(*scenario));
    SweepPoint point = pointOf(*scenario, *simulation, *posed, decisions->plan);
    point.overlap = place.overlap();
    if (plan.microBatches() == 1) // a planner's gap is that of the last micro-batch
      point.gap = decisions->gap;
    return point;
  }

  /// Plans anew. Every rank waits for the slowest, so gradients are ready when that rank has them:
  /// `posed` has them as late as the cluster's slowest node does.
  Result<Decisions> decide(const Problem &posed, const Place &place,
                           const simulate::Machines &machines) const {
    if (!options.replan)
      return Decisions{plan.decisions(), std::nullopt};
    SYNCLINE_TRY_GET(planner, solver::plannerOfPlan(place.planner));
    const double slowest = slowestOf(machines) / cluster::slowdown(place.where.cluster);
    if (!place.where.isOrder)
      return planInReadyOrder(waiting(posed, slowest), **planner);
    const auto order = plan.problem().orderOn(posed, place.where.cluster, place.where.batch);
    return planAcrossSteps(waiting(*order, slowest), **planner);
  }

  Status slowDown(simulate::Machines &machines, double slowest) const {
    if (slowest != 1)
      SYNCLINE_TRY(slowRanks(machines, std::array{std::pair(0, slowest)}));
    return slowRanks(machines, options.slow);
  }

  static double slowestOf(const simulate::Machines &machines) {
    return machines.slowdown.empty() ? 1 : *std::ranges::max_element(machines.slowdown);
  }

  static SweepPoint pointOf(const Scenario &scenario, const Simulation &simulation,
                            const Problem &posed, const Solution &decisions) {
    SweepPoint point{.step = simulation.stepSeconds(),
                     .exposed = simulation.exposed(scenario),
                     .communicationEnd = simulation.communicationEnd(0),
                     .hasWhole = std::ranges::count(simulation.isWhole, true) > 0,
                     .schemes = std::vector<Scheme>(posed.layers.size()),
                     .messages = std::vector<std::vector<int>>(posed.layers.size())};
    const double slowest =
        slowestOf(scenario.machines) * scenario.scatter.slowest(scenario.machines.ranks);
    for (const simulate::Operation &op : scenario.operations)
      point.compute += op.seconds * slowest;
    for (std::size_t i = 0; i < decisions.messages.size(); ++i)
      for (std::size_t layer : decisions.messages[i].layers) {
        point.schemes[layer] = decisions.scheme(posed, decisions.messages[i]);
        point.messages[layer].push_back(static_cast<int>(i));
      }
    for (std::size_t piggyback : decisions.piggybacks) {
      const std::size_t carrier = *posed.layers[piggyback].carrier;
      point.schemes[piggyback] = point.schemes[carrier];
      point.messages[piggyback] = point.messages[carrier];
    }
    return point;
  }

  const simulate::SimulatedPlan &plan;
  cluster::SpecAttr cluster;
  const SweepOptions &options;
  std::optional<Fixed> fixed;
};

/// Refuses an axis that makes no sense for this plan on this cluster.
Status checkAxis(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster, Kind kind,
                 bool replan) {
  const std::string name = "--sweep " + std::string(axisName(kind)) + ": ";
  if (kind == Kind::batch && !plan.samples())
    return Status::badInput(name + "the trace does not say how many samples a rank has (column K)");
  if (const Result<std::shared_ptr<const solver::Planner>> planner =
          solver::plannerOfPlan(plan.planner());
      kind != Kind::bucket && kind != Kind::planner && replan && planner &&
      !(*planner)->plansAnew())
    return Status::badInput(name + "planner '" + plan.planner() +
                            "' plans only in 'syncline compile'; '--replan no' keeps its plan");
  const bool decides = kind == Kind::bucket || kind == Kind::overlap || kind == Kind::planner;
  if (decides && !replan)
    return Status::error(ErrorKind::badUsage,
                         name + "every point is planned anew, got '--replan no'");
  if (kind == Kind::overlap && !plan.problem().hasOrder())
    return Status::badInput(name + "the plan does not say when the next forward pass reads "
                                   "parameters, expected one compiled with '--overlap step'");
  if (kind == Kind::batch || kind == Kind::slow || decides)
    return Status::ok();
  for (cluster::CollectiveAttr stated : cluster.getCollectives())
    if (!mlir::isa<cluster::FormulaAttr>(stated.getCost()))
      return Status::badInput(name + "cluster '" + cluster.getName().str() +
                              "' states a measured time of '" +
                              cluster::stringifyScheme(stated.getScheme()).str() +
                              "', which holds for its own links and ranks");
  const std::string who = name + "cluster '" + cluster.getName().str() + "' ";
  if (kind != Kind::ranks && kind != Kind::nodes && !cluster.getLink())
    return Status::badInput(who + "has no network");
  if (kind == Kind::latency && cost::isByProtocols(cluster) &&
      !(cluster::slowestLink(cluster).getAlpha() > 0))
    return Status::badInput(who + "has a 'network.latency' of 0, to which NCCL's latencies have no "
                                  "proportion: expected one above 0");
  return Status::ok();
}

} // namespace

Status expectMemory(std::optional<std::int64_t> needed, cluster::SpecAttr cluster) {
  const std::optional<std::int64_t> size = cluster.getDevice().getMemorySize();
  if (!needed || !size || *needed <= *size)
    return Status::ok();
  return Status::badInput("needs " + files::formatBytes(*needed) +
                          " of memory on every device, cluster '" + cluster.getName().str() +
                          "' has devices of " + files::formatBytes(*size));
}

/// The points of one axis, some of which may be left out.
static Result<Sweep> runColumn(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                               const SweepAxis &axis, const SweepOptions &options,
                               std::optional<Fixed> fixed) {
  const int devicesPerNode = static_cast<int>(cluster.getDevicesPerNode());
  Sweep sweep{axis, options.replan, plan.names(), {}};
  const Sweeper sweeper(plan, cluster, options, fixed);
  std::vector<KnownShare> shares;
  for (double value : sweepValues(axis, devicesPerNode)) {
    Result<SweepPoint> point = sweeper.at(axis, value);
    if (!point && point.status().kind() != ErrorKind::badInput)
      return point.status();
    if (point) {
      shares.push_back({value, point->efficiency()});
      sweep.points.push_back(std::move(*point));
    } else {
      sweep.skipped.push_back({value, point.status().message()});
    }
  }
  sweep.breakEven = findBreakEven(
      axis, devicesPerNode, options.threshold, shares, [&](double value) -> std::optional<double> {
        const Result<SweepPoint> point = sweeper.at(axis, value);
        return point ? std::optional(point->efficiency()) : std::nullopt;
      });
  return sweep;
}

/// Why a sweep has no points.
static Status firstReason(const Sweep &sweep) {
  const SkippedValue &first = sweep.skipped.front();
  return Status::badInput("at " + std::string(axisName(sweep.axis.kind)) + " " +
                          axisValue(sweep.axis, first.value) + ": " + first.reason);
}

Result<Sweep> runSweep(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                       const SweepAxis &axis, const SweepOptions &options) {
  SYNCLINE_TRY(checkAxis(plan, cluster, axis.kind, options.replan));
  SYNCLINE_TRY_GET(sweep, runColumn(plan, cluster, axis, options, std::nullopt));
  if (sweep->points.empty())
    return firstReason(*sweep);
  return sweep;
}

Result<SweepGrid> runGrid(const simulate::SimulatedPlan &plan, cluster::SpecAttr cluster,
                          const SweepAxis &axis, const SweepAxis &across,
                          const SweepOptions &options) {
  for (const SweepAxis *checked : {&axis, &across})
    SYNCLINE_TRY(checkAxis(plan, cluster, checked->kind, options.replan));
  SweepGrid grid{
      axis, across, sweepValues(across, static_cast<int>(cluster.getDevicesPerNode())), {}};
  for (double value : grid.values) {
    SYNCLINE_TRY_GET(column, runColumn(plan, cluster, axis, options, Fixed{&across, value}));
    grid.columns.push_back(std::move(*column));
  }
  if (std::ranges::all_of(grid.columns, [](const Sweep &column) { return column.points.empty(); }))
    return firstReason(grid.columns.front());
  return grid;
}

} // namespace syncline::sweep
