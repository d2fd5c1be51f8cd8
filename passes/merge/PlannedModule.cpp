// Reads what `compile` wrote, and poses a planned problem at other costs.
#include "passes/merge/PlannedModule.h"

#include "ir/FirstOf.h"
#include "ir/Try.h"
#include "ir/cluster/SpecFields.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Consistency.h"
#include "ir/sync/TraceSamples.h"
#include "passes/merge/ReadProblem.h"
#include "passes/problem/SchemeCost.h"

#include <algorithm>
#include <cmath>
#include <ranges>

using namespace mlir;

namespace syncline::merge {

namespace {

cluster::LinkAttr faster(cluster::LinkAttr link, double times) {
  if (!link)
    return link;
  return cluster::LinkAttr::get(link.getContext(), link.getAlpha(), link.getBeta() / times,
                                link.getGamma(), link.getProtocols());
}

/// Converts costs of the planned cluster to costs of the changed one.
class Repricing {
public:
  /// `slower` is the factor by which operations take longer.
  Repricing(const cost::SchemeCatalog &before, const cost::SchemeCatalog &after, double slower)
      : before(before), after(after), slower(slower) {}

  /// The cost of a merging scheme; equal to the last bit where nothing has changed.
  Result<problem::SchemeOption> option(const problem::SchemeOption &planned) const {
    const problem::SchemeOption *from = before.option(planned.scheme),
                                *to = after.option(planned.scheme);
    if (!from || !to)
      return notOffered(planned.scheme);
    // Updates take less on more ranks, since a shard is 1/P of the bytes.
    const double updates =
        planned.scheme == Scheme::reduceScatter
            ? slower * static_cast<double>(before.ranks) / static_cast<double>(after.ranks)
            : 1;
    if (isSame(*from, *to) && updates == 1)
      return planned;
    problem::SchemeOption result = *to;
    if (const double extra = updates * problem::extraPerByte(*planned.cost, *from->cost); extra > 0)
      result.cost = problem::withExtraPerByte(*result.cost, extra);
    problem::setLost(result, after.interferenceOf(result.scheme));
    return result;
  }

  /// The cost of a factor option of a gradient of `bytes`.
  Result<problem::FactorOption> price(const problem::FactorOption &planned, std::int64_t bytes,
                                      double batch) const {
    problem::FactorOption result = planned;
    if (isGathered(planned.scheme)) {
      const auto was = before.gatherOf(planned.scheme), is = after.gatherOf(planned.scheme);
      if (!is)
        return notOffered(planned.scheme);
      result.factorBytes = std::llround(static_cast<double>(planned.factorBytes) * batch);
      if (!was || !isSame(*was, *is) || batch != 1) {
        result.seconds = cost::gatherSeconds(after, planned.scheme, result.factorBytes);
        result.traffic = cost::gatherTraffic(after, planned.scheme, result.factorBytes);
      }
      cost::setGatherLost(after, result);
      const double others = static_cast<double>(after.ranks - 1) /
                            static_cast<double>(std::max<std::int64_t>(before.ranks - 1, 1));
      result.reconstruct *= others * batch * slower;
      return result;
    }
    const problem::SchemeOption *from = before.option(planned.scheme),
                                *to = after.option(planned.scheme);
    if (!from || !to)
      return notOffered(planned.scheme);
    if (isSame(*from, *to))
      return result;
    result.seconds += to->cost->seconds(bytes) - from->cost->seconds(bytes);
    result.traffic = to->bytesMoved(bytes);
    result.lost = to->lostSeconds(bytes);
    result.lostBy = to->lostSecondsBy(bytes);
    return result;
  }

private:
  static Status notOffered(Scheme scheme) {
    return Status::badInput("'" + std::string(schemeName(scheme)) + "' is not offered there");
  }

  /// Whether two costs of a catalog are equal to the last bit.
  static bool isSame(const problem::CollectiveCost &a, const problem::CollectiveCost &b) {
    return std::ranges::equal(a.segments(), b.segments());
  }
  static bool isSame(const problem::SchemeOption &a, const problem::SchemeOption &b) {
    const auto loseSame = [](const auto &one, const auto &other) {
      return one && other ? isSame(*one, *other) : !one && !other;
    };
    return isSame(*a.cost, *b.cost) && loseSame(a.lost, b.lost) &&
           std::ranges::equal(a.lostBy.of, b.lostBy.of, loseSame) && a.traffic == b.traffic &&
           a.shortTraffic == b.shortTraffic;
  }

  const cost::SchemeCatalog &before, &after;
  double slower;
};

bool isMeasured(Attribute cost) { return !isa<cluster::FormulaAttr>(cost); }

} // namespace

std::int64_t fewestRanks(cluster::SpecAttr spec) {
  std::int64_t fewest = 1;
  if (cluster::ServersAttr servers = spec.getServers(); servers && !servers.getDedicated())
    fewest = servers.getCount();
  for (cluster::OverrideAttr own : spec.getOverrides())
    for (std::int64_t node : own.getNodes())
      fewest = std::max(fewest, node * spec.getDevicesPerNode() + 1);
  return fewest;
}

Result<cluster::SpecAttr> changed(cluster::SpecAttr spec, const Change &change) {
  const std::int64_t ranks = change.ranks.value_or(spec.getRanks());
  const std::string what = "cluster '" + spec.getName().str() + "'";
  SYNCLINE_TRY(cluster::expectRoom(spec, ranks, what));
  const auto byBandwidth = [&](cluster::LinkAttr link) { return faster(link, change.bandwidth); };
  cluster::SpecFields fields(spec);
  fields.setRanks(ranks);
  fields.devicesPerNode = std::min(ranks, spec.getDevicesPerNode());
  fields.changeNetwork(byBandwidth);
  fields.inside = byBandwidth(spec.getInside());
  return fields.get(spec.getContext());
}

FailureOr<PlannedProblem> PlannedProblem::create(sync::ProblemOp op, cluster::SpecAttr spec) {
  SYNCLINE_TRY_MLIR(problem, toProblem(op));
  Result<cost::SchemeCatalog> catalog = cost::catalogOf(spec, cluster::wireOf(op));
  if (!catalog)
    return op.emitOpError(catalog.status().message());
  std::optional<problem::OrderProblem> order = toOrderProblem(op, *problem);
  return PlannedProblem(std::move(*problem), std::move(order), op.getForwardEnd().convertToDouble(),
                        spec, std::move(*catalog));
}

std::vector<Scheme> PlannedProblem::measured() const {
  std::vector<Scheme> schemes;
  for (cluster::CollectiveAttr stated : spec.getCollectives())
    if (isMeasured(stated.getCost()))
      schemes.push_back(stated.getScheme());
  return schemes;
}

Result<problem::Problem> PlannedProblem::pose(const Change &change) const {
  Result<cluster::SpecAttr> there = changed(spec, change);
  return there ? poseOn(*there, change.batch) : there.status();
}

/// Sets the merge classes' limits on the changed cluster. Fails where servers can no longer
/// hold all gradients: they would need a merge class of their own, and choices would change
/// their meaning.
static Status limitMergeClasses(problem::Problem &problem, const cost::SchemeCatalog &catalog) {
  std::int64_t total = 0;
  for (const problem::Layer &layer : problem.layers)
    total += layer.bytes;
  const bool isTight = catalog.serverMemory && total > *catalog.serverMemory;
  for (problem::MergeClass &mergeClass : problem.mergeClasses) {
    mergeClass.largestMessage = catalog.largestMessage.value_or(problem::unlimited);
    const bool hasServers = std::ranges::count(mergeClass.options, Scheme::parameterServer,
                                               &problem::SchemeOption::scheme) > 0;
    if (isTight && hasServers && mergeClass.options.size() > 1)
      return Status::badInput("servers hold " + std::to_string(*catalog.serverMemory) +
                              " B there and all gradients are " + std::to_string(total) +
                              " B, where the plan was made servers could hold them all");
    mergeClass.capacity = isTight && hasServers ? *catalog.serverMemory : problem::unlimited;
  }
  return Status::ok();
}

Result<problem::Problem> PlannedProblem::poseOn(cluster::SpecAttr other, double batch) const {
  SYNCLINE_TRY_GET(catalog, cost::catalogOf(other, planned.wire));
  const double slower = slowerOn(other);
  const Repricing repricing(planned, *catalog, slower);
  problem::Problem posed = problem;
  const double longer = batch * slower;
  posed.computeFree *= longer;
  if (!catalog->tellsClasses())
    posed.memoryBound.reset();
  if (posed.memoryBound)
    for (problem::WorkSpan &span : *posed.memoryBound)
      span = {span.begin * longer, span.end * longer};
  SYNCLINE_TRY(limitMergeClasses(posed, *catalog));
  for (problem::MergeClass &mergeClass : posed.mergeClasses)
    for (problem::SchemeOption &option : mergeClass.options) {
      SYNCLINE_TRY_GET(priced, repricing.option(option));
      option = std::move(*priced);
    }
  for (problem::Layer &layer : posed.layers) {
    layer.ready *= batch * slower;
    for (problem::FactorOption &factorOption : layer.factorOptions) {
      SYNCLINE_TRY_GET(priced, repricing.price(factorOption, layer.bytes, batch));
      factorOption = *priced;
    }
  }
  SYNCLINE_TRY(problem::validate(posed));
  return posed;
}

std::vector<double> PlannedProblem::readingOn(cluster::SpecAttr other, double batch) const {
  if (!order)
    return {};
  const double longer = batch * slowerOn(other);
  std::vector<double> reading(order->tail.size());
  double updates = 0; // of layers that are read later; they are a part of the tail
  for (std::size_t k : problem::readersOf(*order) | std::views::reverse) {
    reading[k] = std::max(forwardEnd - (order->tail[k] - updates), 0.0) * longer;
    updates += order->updateOf(k);
  }
  return reading;
}

std::optional<problem::OrderProblem> PlannedProblem::orderOn(const problem::Problem &posed,
                                                             cluster::SpecAttr other,
                                                             double batch) const {
  if (!order)
    return std::nullopt;
  const double slower = slowerOn(other), longer = batch * slower, forward = forwardEnd * longer;
  problem::OrderProblem there = *order;
  there.sync = problem::shifted(posed, -forward);
  if (batch == 1 && slower == 1)
    return there; // equal to the last bit
  there.forward = forward + (order->forward - forwardEnd) * slower;
  const std::vector<double> reading = readingOn(other, batch);
  double updates = 0;
  for (std::size_t k : problem::readersOf(*order) | std::views::reverse) {
    there.tail[k] = std::min(forward - reading[k] + updates, there.forward); // but for rounding
    there.update[k] *= slower;
    updates += there.update[k];
  }
  return there;
}

double PlannedProblem::slowerOn(cluster::SpecAttr other) const {
  return cluster::slowdown(other) / cluster::slowdown(spec);
}

static std::optional<std::int64_t> samplesOf(ModuleOp module) {
  if (auto program = firstOf<plan::ProgramOp>(module))
    return program.getBatch();
  if (auto trace = firstOf<sync::TraceOp>(module))
    if (const auto stated = sync::samplesOf(trace))
      return stated;
  std::optional<std::int64_t> samples;
  bool agree = true;
  module.walk([&](sync::LayerOp layer) {
    if (!layer.getMatmul())
      return;
    const std::int64_t k = (*layer.getMatmul())[2];
    agree &= samples.value_or(k) == k;
    samples = k;
  });
  return agree ? samples : std::nullopt;
}

Result<PlannedModule> readPlannedModule(ModuleOp module) {
  auto problem = firstOf<sync::ProblemOp>(module);
  auto solution = firstOf<sync::SolutionOp>(module);
  const cluster::SpecAttr spec = sync::gradientCluster(module);
  if (!problem || !solution || !spec)
    return Status::badInput("expected a problem, its solution and a cluster");
  FailureOr<PlannedProblem> planned = PlannedProblem::create(problem, spec);
  if (failed(planned))
    return Status::badInput("not a problem");
  problem::Solution claimed = toSolution(solution, planned->asPlanned());
  if (auto reason = rejectionOf(problem, planned->asPlanned(), claimed))
    return Status::badInput(*reason);
  return PlannedModule{problem, solution, std::move(*planned), std::move(claimed),
                       samplesOf(module)};
}

} // namespace syncline::merge
