// Reads the modules of plans.
#include "passes/simulate/ir/ReadScenario.h"

#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/OptimizerState.h"
#include "ir/plan/Plan.h"
#include "ir/plan/RankMemory.h"
#include "ir/sync/Sync.h"
#include "passes/cost/CostModel.h"
#include "passes/cost/Counts.h"
#include "passes/cost/SchemeCatalog.h"
#include "passes/cost/Timeline.h"
#include "passes/lower/MemoryElsewhere.h"
#include "passes/problem/SchemeCost.h"
#include "passes/simulate/Accumulation.h"
#include "passes/simulate/ClipByNorm.h"
#include "passes/simulate/IssueOrder.h"
#include "passes/simulate/ir/ReadProgram.h"
#include "passes/simulate/ir/UpdateWeights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;

namespace syncline::simulate {

namespace {

using cluster::Scheme;

problem::LinkRates rates(cluster::LinkAttr link) {
  return {link.getAlpha(), link.getBeta(), link.getGamma()};
}

/// Whether a scheme's time is stated: a line, a table, or a formula with constants of its own, none
/// of which the network decides. NCCL's Tree counts too, as does all that its protocols decide,
/// since only the costs are known.
bool isStated(cluster::SpecAttr spec, Scheme scheme) {
  if (spec.getNccl() && (scheme == Scheme::tree || cost::isByProtocols(spec)))
    return true;
  for (cluster::CollectiveAttr stated : spec.getCollectives())
    if (stated.getScheme() == pricedAs(scheme))
      return !cost::isOfNetwork(spec, stated.getCost());
  return false;
}

Result<std::shared_ptr<const problem::CollectiveCost>>
costOf(cluster::SpecAttr spec, const cost::SchemeCatalog &catalog, Scheme scheme) {
  if (isGathered(scheme) && catalog.gatherOf(scheme))
    return catalog.gatherOf(scheme);
  if (const problem::SchemeOption *option = catalog.option(scheme))
    return option->cost;
  // Not offered, but possible: its formula over the link.
  cluster::LinkAttr link = cluster::slowestLink(spec);
  if (!link || !hasFormula(scheme))
    return Status::badInput("cluster '" + spec.getName().str() + "' does not say what '" +
                            cluster::stringifyScheme(scheme).str() + "' costs");
  return problem::narrowed(
      problem::formulaCost(scheme, static_cast<int>(spec.getRanks()), rates(link)),
      cost::wireShareOf(scheme, catalog.wire));
}

/// The scheme of the messages that sum a few numbers over the ranks, where there are several and
/// the cluster says what such a message takes.
std::optional<Scheme> fewNumbersScheme(const Scenario &scenario, cluster::SpecAttr spec,
                                       const cost::SchemeCatalog &catalog) {
  const cluster::ServersAttr servers = spec.getServers();
  const Scheme scheme = lossScheme(scenario, servers && servers.getDedicated());
  const bool isKnown = isStated(spec, scheme) || spec.getLink();
  return spec.getRanks() > 1 && isKnown && costOf(spec, catalog, scheme) ? std::optional(scheme)
                                                                         : std::nullopt;
}

/// Sets the machines of a cluster and the messages' costs on it.
Status place(Scenario &scenario, cluster::SpecAttr spec, const cost::SchemeCatalog &catalog) {
  scenario.machines = machinesOf(spec);
  for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
    Message &message = scenario.messages[i];
    const bool isOfGradients =
        std::cmp_not_equal(i, scenario.loss) && std::cmp_not_equal(i, scenario.norm);
    message.wireShare = isOfGradients ? wireShare(catalog.wire) : 1;
    SYNCLINE_TRY_GET(cost, costOf(spec, catalog, message.scheme));
    message.cost = std::move(*cost);
    message.isStated = isStated(spec, message.scheme);
  }
  return Status::ok();
}

/// Seconds per byte by which the problem's reduce-scatter exceeds the catalog's collective: its
/// share of the update.
double shardUpdateOf(const problem::Problem &problem, const cost::SchemeCatalog &catalog) {
  if (!catalog.reduceScatter)
    return 0;
  for (const problem::MergeClass &mergeClass : problem.mergeClasses)
    for (const problem::SchemeOption &option : mergeClass.options)
      if (option.scheme == Scheme::reduceScatter)
        return problem::extraPerByte(*option.cost, *catalog.reduceScatter->cost);
  return 0;
}

/// The operations of a trace: its layers forward, then backward.
std::vector<Operation> operationsOf(sync::TraceOp trace, double slowdown) {
  std::vector<Operation> operations;
  auto layers = llvm::to_vector(trace.getOps<sync::LayerOp>());
  for (sync::LayerOp layer : layers)
    operations.push_back({.layer = layer.getName().str(),
                          .seconds = slowdown * layer.getForward().convertToDouble()});
  for (sync::LayerOp layer : llvm::reverse(layers))
    operations.push_back({.phase = Phase::backward,
                          .layer = layer.getName().str(),
                          .seconds = slowdown * layer.getBackward().convertToDouble()});
  return operations;
}

/// How operations scatter by the module; empty where it does not say.
Scatter scatterOf(ModuleOp module) {
  Scatter scatter;
  if (auto ranks = module->getAttrOfType<ArrayAttr>(cluster::scatterAttr))
    for (ArrayAttr steps : ranks.getAsRange<ArrayAttr>())
      for (std::vector<double> &factors = scatter.factors.emplace_back();
           FloatAttr factor : steps.getAsRange<FloatAttr>())
        factors.push_back(factor.getValueAsDouble());
  return scatter;
}

/// Divides times of the cluster's slowest node by its slowdown, since scenarios state times
/// without it.
void undoSlowdown(Scenario &scenario, cluster::SpecAttr spec) {
  for (Operation &op : scenario.operations)
    op.seconds /= cluster::slowdown(spec);
}

/// Seconds of the updates that reduce-scatter messages carry out, all shards of each; they are no
/// operations of the problem.
double shardedUpdates(const problem::Problem &problem, const problem::Solution &plan,
                      const cost::SchemeCatalog &catalog) {
  double bytes = 0;
  for (const problem::Message &message : plan.messages)
    if (plan.scheme(problem, message) == Scheme::reduceScatter)
      for (std::size_t layer : message.layers)
        bytes += static_cast<double>(problem.layers[layer].bytes);
  return bytes > 0 ? bytes * shardUpdateOf(problem, catalog) * static_cast<double>(catalog.ranks)
                   : 0;
}

} // namespace

Machines machinesOf(cluster::SpecAttr spec) {
  // Each group gets an equal part of the cards.
  const auto shared = [&](cluster::LinkAttr link) {
    problem::LinkRates of = rates(link);
    of.secondsPerByte *= static_cast<double>(spec.getGroups());
    return of;
  };
  Machines machines{.ranks = static_cast<int>(spec.getRanks()),
                    .devicesPerNode = static_cast<int>(spec.getDevicesPerNode()),
                    .cardsPerNode = static_cast<int>(spec.getCardsPerNode()),
                    .halfDuplex = spec.getHalfDuplex(),
                    .interference = cluster::interference(spec),
                    .latencyInterference = spec.getLatencyInterference(),
                    .messageInterference = cluster::messageInterference(spec)};
  for (Scheme scheme : allSchemes()) {
    const double factor = cluster::interference(spec, scheme);
    const auto [products, memory] = cluster::interferenceByClass(spec, scheme);
    if (factor != machines.interference)
      machines.schemeInterference[scheme] = factor;
    if (products != memory)
      machines.classInterference[scheme] = {{products, memory}};
  }
  if (spec.getLink())
    machines.network = shared(spec.getLink());
  if (spec.getInside())
    machines.inside = rates(spec.getInside());
  if (cluster::ServersAttr servers = spec.getServers()) {
    machines.servers = static_cast<int>(servers.getCount());
    machines.dedicated = servers.getDedicated();
    machines.serverLink = rates(servers.getLink());
  }
  for (cluster::OverrideAttr own : spec.getOverrides())
    for (std::int64_t node : own.getNodes()) {
      if (own.getLink())
        machines.nodeNetwork[static_cast<int>(node)] = shared(own.getLink());
      if (double(own.getSlowdown()) == 1)
        continue;
      machines.slowdown.resize(static_cast<std::size_t>(machines.ranks), 1);
      const std::int64_t first = node * machines.devicesPerNode;
      for (std::int64_t rank = first;
           rank < std::min<std::int64_t>(first + machines.devicesPerNode, machines.ranks); ++rank)
        machines.slowdown[static_cast<std::size_t>(rank)] = own.getSlowdown();
    }
  return machines;
}

Result<SimulatedPlan> SimulatedPlan::create(ModuleOp module) {
  SYNCLINE_TRY_GET(read, merge::readPlannedModule(module));
  SimulatedPlan result(module, std::move(*read));
  sync::ProblemOp problem = result.planned.problemOp;
  for (StringAttr name : problem.getLayers().getAsRange<StringAttr>())
    result.gradientNames.push_back(name.str());
  result.forwardEnd = problem.getForwardEnd().convertToDouble();
  result.updates = problem.getUpdates().convertToDouble();
  result.updateWeights = updateWeightsOf(module, problem, result.problem().cluster());
  for (auto program : module.getOps<plan::ProgramOp>()) {
    result.microBatchCount = plan::microBatchesOf(program);
    result.squares = plan::clipNormOf(program) ? cost::readingShare(nn::optimizerOf(module)) : 0;
  }
  if (auto overhead = module->getAttrOfType<FloatAttr>(cluster::overheadAttr))
    result.overhead = overhead.getValueAsDouble();
  result.scatter = scatterOf(module);
  if (auto prediction = firstOf<sync::PredictionOp>(module))
    result.predicted = prediction.getStep().convertToDouble();
  return result;
}

SimulatedPlan SimulatedPlan::withoutClipping() const {
  SimulatedPlan plan = *this;
  plan.squares = 0;
  return plan;
}

bool SimulatedPlan::sendsGradients() const {
  auto program = firstOf<plan::ProgramOp>(module);
  return program && !program.getConsistency();
}

Result<Scenario> SimulatedPlan::accumulatingMicroBatch() const {
  SYNCLINE_TRY_GET(step, asPlanned(planned.problem.cluster()));
  return simulate::accumulatingMicroBatch(*step, cost::addingShare(nn::optimizerOf(module)));
}

double SimulatedPlan::leastMicroBatchSeconds() const {
  sync::ProblemOp problem = planned.problemOp;
  return problem.getBackwardEnd().convertToDouble() +
         cost::addingShare(nn::optimizerOf(module)) * updates;
}

Scenario SimulatedPlan::wholeStep(const Scenario &lastMicroBatch, std::int64_t microBatches) const {
  return simulate::wholeStep(lastMicroBatch, microBatches,
                             cost::addingShare(nn::optimizerOf(module)));
}

bool SimulatedPlan::hasProgram() const { return bool(firstOf<plan::ProgramOp>(module)); }

bool SimulatedPlan::isOfStep() const {
  auto trace = firstOf<sync::TraceOp>(module);
  return hasProgram() || (trace && trace.getOfStep());
}

std::vector<double> SimulatedPlan::readingIn(sync::TraceOp trace) const {
  const cluster::SpecAttr cluster = planned.problem.cluster();
  if (!planned.problem.hasOrder() || !trace)
    return planned.problem.readingOn(cluster, 1);
  // Differences of the problem's times would be no ends of layers, but for rounding.
  return cost::readingOf(cost::timelineOf(trace, cluster::slowdown(cluster)), gradientNames);
}

Result<Scenario> SimulatedPlan::asPlanned(cluster::SpecAttr cluster) const {
  SYNCLINE_TRY_GET(catalog, cost::catalogOf(cluster, wire()));
  Scenario scenario;
  if (auto program = firstOf<plan::ProgramOp>(module)) {
    SYNCLINE_TRY_GET(read, readProgram(program));
    scenario = std::move(*read);
  } else {
    auto trace = firstOf<sync::TraceOp>(module);
    const problem::Problem &problem = planned.problem.asPlanned();
    const std::vector<double> reading = readingIn(trace);
    scenario =
        issueMessages(trace ? operationsOf(trace, cluster::slowdown(planned.problem.cluster()))
                            : simulate::operationsOf(problem, forwardEnd, gradientNames, reading),
                      problem, planned.solution, gradientNames, {updates, updateWeights}, reading);
    if (isOfStep())
      moveOwnShares(scenario, problem, planned.solution,
                    static_cast<int>(planned.problem.cluster().getRanks()));
  }
  const double shardUpdate = shardUpdateOf(planned.problem.asPlanned(), planned.problem.catalog()) *
                             planned.problem.slowerOn(cluster);
  return complete(std::move(scenario), shardUpdate, planned.problem.cluster(), cluster, *catalog);
}

Result<Scenario> SimulatedPlan::complete(Scenario scenario, double shardUpdate,
                                         cluster::SpecAttr timedOn, cluster::SpecAttr cluster,
                                         const cost::SchemeCatalog &catalog) const {
  for (Message &message : scenario.messages)
    if (message.scheme == Scheme::reduceScatter)
      message.shardUpdate = shardUpdate;
  const std::optional<Scheme> few = fewNumbersScheme(scenario, cluster, catalog);
  if (clips())
    clipByNorm(scenario, squares, few);
  undoSlowdown(scenario, timedOn);
  if (isOfStep() && few)
    addLoss(scenario, *few);
  SYNCLINE_TRY(place(scenario, cluster, catalog));
  addOverhead(scenario, overhead);
  scenario.scatter = scatter;
  return scenario;
}

Scenario SimulatedPlan::inReadyOrder(Scenario asPlanned) const {
  const problem::Problem &problem = planned.problem.asPlanned();
  const std::vector<problem::Message> &messages = planned.solution.messages;
  std::vector<std::size_t> order(messages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return messages[i].ready; });
  problem::Solution sorted = planned.solution;
  for (std::size_t i = 0; i < order.size(); ++i)
    sorted.messages[i] = messages[order[i]];
  Scenario issued = issueMessages(simulate::operationsOf(problem, forwardEnd, gradientNames),
                                  problem, sorted, gradientNames, {updates, updateWeights});
  const cluster::SpecAttr cluster = planned.problem.cluster();
  moveOwnShares(issued, problem, sorted, static_cast<int>(cluster.getRanks()));
  undoSlowdown(issued, cluster);
  const std::vector<double> sortedTimes = issueTimes(issued, order.size());
  std::vector<double> times(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    times[order[i]] = sortedTimes[i];
  return issuedAt(std::move(asPlanned), times);
}

Result<Scenario> SimulatedPlan::withDecisions(const problem::Problem &problem,
                                              const problem::Solution &decisions,
                                              const Elsewhere &where) const {
  const double slower =
      planned.problem.slowerOn(where.cluster); // the posed problem's times contain it
  SYNCLINE_TRY_GET(catalog, cost::catalogOf(where.cluster, wire()));
  const std::vector<double> reading =
      where.isOrder ? planned.problem.readingOn(where.cluster, where.batch) : std::vector<double>();
  problem::Solution turns = decisions;
  turns.takeTurns(planned.solution.channels());
  Scenario scenario = issueMessages(
      simulate::operationsOf(problem, forwardEnd * (where.batch * slower), gradientNames, reading),
      problem, turns, gradientNames, {updates * slower, updateWeights}, reading);
  if (isOfStep())
    moveOwnShares(scenario, problem, decisions, static_cast<int>(where.cluster.getRanks()));
  return complete(std::move(scenario), shardUpdateOf(problem, *catalog), where.cluster,
                  where.cluster, *catalog);
}

std::vector<Operation> SimulatedPlan::aloneMicroBatch(double batch, bool isLast) const {
  const problem::Problem &problem = planned.problem.asPlanned();
  const double slowdown = cluster::slowdown(planned.problem.cluster()),
               updating =
                   updates + shardedUpdates(problem, planned.solution, planned.problem.catalog()),
               share = isLast ? 1 + squares : cost::addingShare(nn::optimizerOf(module));
  return {{.layer = "forward", .seconds = forwardEnd * batch / slowdown},
          {.phase = Phase::backward,
           .layer = "backward",
           .seconds = std::max(problem.computeFree - forwardEnd, 0.0) * batch / slowdown},
          {.phase = Phase::update,
           .layer = isLast ? "updates" : "sums",
           .seconds = updating * share / slowdown}};
}

Scenario SimulatedPlan::alone(double batch) const {
  Scenario scenario;
  for (std::int64_t microBatch = 1; microBatch <= microBatchCount; ++microBatch) {
    for (Operation &op : aloneMicroBatch(batch, microBatch == microBatchCount))
      scenario.operations.push_back(std::move(op));
    addOverhead(scenario, overhead);
  }
  scenario.scatter = scatter;
  return scenario;
}

double SimulatedPlan::aloneSeconds(double batch) const {
  auto secondsOf = [&](bool isLast) {
    double seconds = 0;
    for (const Operation &op : aloneMicroBatch(batch, isLast))
      seconds += op.seconds;
    return seconds + overhead;
  };
  const double seconds =
      secondsOf(true) + static_cast<double>(microBatchCount - 1) * secondsOf(false);
  return seconds * scatter.slowest(1);
}

std::optional<std::int64_t> SimulatedPlan::memory(const problem::Problem &problem,
                                                  const problem::Solution &decisions,
                                                  const Elsewhere &where) const {
  auto program = firstOf<plan::ProgramOp>(module);
  if (!program)
    return std::nullopt;
  lower::MemoryNeed need{.batch =
                             std::llround(static_cast<double>(program.getBatch()) * where.batch),
                         .ranks = where.cluster.getRanks(),
                         .isCarrying = where.isOrder};
  for (const problem::Message &message : decisions.messages)
    if (message.isFactors && isGathered(decisions.scheme(problem, message))) {
      const std::size_t layer = message.layers.front();
      need.factors[gradientNames[layer]] =
          problem.layers[layer].factorOptions[message.option].factorBytes;
    }
  return lower::memoryElsewhere(program, need) + plan::optimizerBytes(program) +
         plan::sumsBytes(program) + plan::libraryBytes(where.cluster);
}

} // namespace syncline::simulate
