// The same problem at other costs.
#include "passes/explain/Repose.h"

#include "passes/cost/CollectiveTime.h"
#include "passes/merge/MergeOps.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace syncline::explain {

namespace {

cluster::LinkAttr faster(cluster::LinkAttr link, double times) {
  if (!link)
    return link;
  return cluster::LinkAttr::get(link.getContext(), link.getAlpha(), link.getBeta() / times,
                                link.getGamma());
}

/// Seconds that a scheme takes besides its collective for every byte: a sharded update's.
double extraPerByte(const solver::CollectiveCost &whole, const solver::CollectiveCost &collective) {
  constexpr std::int64_t bytes = std::int64_t{1} << 30;
  return std::max(0.0, (whole.seconds(bytes) - collective.seconds(bytes)) / bytes);
}

/// From the planned cluster's costs to the changed one's.
class Repricing {
public:
  Repricing(const cost::Offer &before, const cost::Offer &after) : before(before), after(after) {}

  /// Of a merging scheme. The same cost where nothing has changed, to the last bit.
  Result<solver::SchemeOption> option(const solver::SchemeOption &planned) const {
    const cluster::Scheme scheme = toClusterScheme(planned.scheme);
    sync::OptionAttr from = before.option(scheme), to = after.option(scheme);
    if (!from || !to)
      return Status::badInput("'" + cluster::stringifyScheme(scheme).str() +
                              "' is not offered there");
    if (from == to)
      return planned;
    Result<std::unique_ptr<solver::CollectiveCost>> old = cost::collectiveTime(from.getCost());
    Result<std::unique_ptr<solver::CollectiveCost>> now = cost::collectiveTime(to.getCost());
    if (!old || !now)
      return old ? now.status() : old.status();
    solver::SchemeOption result{planned.scheme, std::move(*now), to.getTraffic()};
    if (const double extra = extraPerByte(*planned.cost, **old); extra > 0)
      result.cost =
          std::move(*cost::collectiveTime(cost::costAttr(to.getContext(), *result.cost, extra)));
    return result;
  }

  /// Of a gradient of so many bytes, which travels alone.
  Result<solver::SoloOption> solo(const solver::SoloOption &planned, std::int64_t bytes,
                                  double batch) const {
    solver::SoloOption result = planned;
    if (planned.scheme == solver::Scheme::factors) {
      if (!after.gather)
        return Status::badInput("'factors' is not offered there");
      result.factorBytes = std::llround(static_cast<double>(planned.factorBytes) * batch);
      if (before.gather != after.gather || batch != 1) {
        result.seconds = cost::gatherSeconds(after, result.factorBytes);
        result.traffic = cost::gatherTraffic(after, result.factorBytes);
      }
      const double others = static_cast<double>(after.ranks - 1) /
                            static_cast<double>(std::max<std::int64_t>(before.ranks - 1, 1));
      result.rebuild *= others * batch;
      return result;
    }
    const cluster::Scheme scheme = toClusterScheme(planned.scheme);
    sync::OptionAttr from = before.option(scheme), to = after.option(scheme);
    if (!from || !to)
      return Status::badInput("'" + cluster::stringifyScheme(scheme).str() +
                              "' is not offered there");
    if (from == to)
      return result;
    result.seconds += (*cost::collectiveTime(to.getCost()))->seconds(bytes) -
                      (*cost::collectiveTime(from.getCost()))->seconds(bytes);
    result.traffic = to.getTraffic() * static_cast<double>(bytes);
    return result;
  }

private:
  const cost::Offer &before, &after;
};

bool isMeasured(Attribute cost) { return !isa<cluster::FormulaAttr>(cost); }

} // namespace

cluster::SpecAttr changed(cluster::SpecAttr spec, const Change &change) {
  MLIRContext *context = spec.getContext();
  const std::int64_t ranks = change.ranks.value_or(spec.getRanks());
  llvm::SmallVector<cluster::CollectiveAttr> collectives;
  for (cluster::CollectiveAttr stated : spec.getCollectives()) {
    Attribute cost = stated.getCost();
    if (auto formula = dyn_cast<cluster::FormulaAttr>(cost))
      cost = cluster::FormulaAttr::get(context, formula.getAlgorithm(), ranks, formula.getAlpha(),
                                       formula.getBeta() / change.bandwidth, formula.getGamma());
    collectives.push_back(cluster::CollectiveAttr::get(context, stated.getScheme(), cost));
  }
  cluster::ServersAttr servers = spec.getServers();
  if (servers)
    servers = cluster::ServersAttr::get(
        context, servers.getDedicated() ? servers.getCount() : std::min(servers.getCount(), ranks),
        servers.getDedicated(), faster(servers.getLink(), change.bandwidth), servers.getMemory());
  llvm::SmallVector<cluster::OverrideAttr> overrides;
  for (cluster::OverrideAttr own : spec.getOverrides()) {
    llvm::SmallVector<std::int64_t> nodes; // those that there still are
    llvm::copy_if(own.getNodes(), std::back_inserter(nodes),
                  [&](std::int64_t node) { return node * spec.getDevicesPerNode() < ranks; });
    if (!nodes.empty())
      overrides.push_back(cluster::OverrideAttr::get(context, nodes, own.getSlowdown(),
                                                     faster(own.getLink(), change.bandwidth)));
  }
  return cluster::SpecAttr::get(context, spec.getName(), ranks, spec.getDevicesPerNode(),
                                spec.getCardsPerNode(), spec.getDevice(),
                                faster(spec.getLink(), change.bandwidth),
                                faster(spec.getInside(), change.bandwidth), spec.getHalfDuplex(),
                                collectives, servers, spec.getLargestMessage(), overrides);
}

FailureOr<PlannedProblem> PlannedProblem::create(sync::ProblemOp op, cluster::SpecAttr spec) {
  FailureOr<solver::JointProblem> problem = toJointProblem(op);
  if (failed(problem))
    return failure();
  Result<cost::Offer> offer = cost::offerOf(spec);
  if (!offer)
    return op.emitOpError(offer.status().message());
  return PlannedProblem(std::move(*problem), spec, std::move(*offer));
}

std::vector<solver::Scheme> PlannedProblem::measured() const {
  std::vector<solver::Scheme> schemes;
  for (cluster::CollectiveAttr stated : spec.getCollectives())
    if (isMeasured(stated.getCost()))
      schemes.push_back(toSolverScheme(stated.getScheme()));
  return schemes;
}

Result<solver::JointProblem> PlannedProblem::pose(const Change &change) const {
  return poseOn(changed(spec, change), change.batch);
}

Result<solver::JointProblem> PlannedProblem::poseOn(cluster::SpecAttr other, double batch) const {
  Result<cost::Offer> offer = cost::offerOf(other);
  if (!offer)
    return offer.status();
  const Repricing repricing(planned, *offer);
  solver::JointProblem posed = problem;
  posed.computeFree *= batch;
  for (solver::Lane &lane : posed.lanes) {
    for (solver::SchemeOption &option : lane.options) {
      Result<solver::SchemeOption> priced = repricing.option(option);
      if (!priced)
        return priced.status();
      option = std::move(*priced);
    }
    if (lane.capacity != solver::unlimited)
      lane.capacity = offer->serverMemory.value_or(lane.capacity);
  }
  for (solver::JointLayer &layer : posed.layers) {
    layer.ready *= batch;
    for (solver::SoloOption &solo : layer.solos) {
      Result<solver::SoloOption> priced = repricing.solo(solo, layer.bytes, batch);
      if (!priced)
        return priced.status();
      solo = *priced;
    }
  }
  if (Status valid = solver::validate(posed); !valid)
    return valid;
  return posed;
}

} // namespace syncline::explain
