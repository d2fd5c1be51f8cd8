// Solves a planned problem again with other bandwidths, batches and numbers of nodes.
#include "passes/explain/ir/Explain.h"

#include "passes/explain/SchemeRequest.h"
#include "passes/merge/ReadProblem.h"
#include "passes/solver/Planner.h"

#include <algorithm>
#include <cmath>

namespace syncline::explain {

using namespace problem;
using namespace solver;

namespace {

/// Options of a search that is narrower than a plan's own, more so for more layers: an explanation
/// needs many searches, and none of their plans is run.
SolverOptions quick(const Problem &problem) {
  const std::size_t layers = std::max<std::size_t>(1, problem.layers.size());
  return {.width = std::clamp<std::size_t>(100'000 / layers, 24, 100)};
}

/// The factor between tried values. Searches of thousands of layers take long, so fewer are tried.
double gridFactor(const Problem &problem) { return problem.layers.size() > 2000 ? 8 : 2; }

/// Two finishes are equal when they differ by at most this share.
constexpr double tolerance = 1e-9;

/// How far the search goes, as a multiple of the planned value.
constexpr double furthestBandwidth = 64, furthestBatch = 32;
constexpr std::int64_t maxNodes = 1024;

/// The scheme that a planner chooses for one layer on changed clusters.
class Elsewhere {
public:
  Elsewhere(const merge::PlannedProblem &problem, const Planner &planner, std::size_t layer,
            Scheme planned)
      : problem(problem), planner(planner), layer(layer), planned(planned) {}

  /// The scheme on the changed cluster, if it differs; nothing where that cluster has no plan.
  std::optional<Scheme> otherAt(const merge::Change &change) const {
    Result<Problem> there = problem.pose(change);
    if (!there)
      return std::nullopt;
    Result<PlanResult> plan = planner.plan(*there, quick(*there));
    if (!plan)
      return std::nullopt;
    const Scheme scheme = schemeIn(*there, plan->plan, layer);
    if (scheme == planned || (planner.name() == "optimal" && isAsGood(*there, *plan)))
      return std::nullopt;
    return scheme;
  }

private:
  /// Whether a plan with the planned scheme could end as early as the best one.
  bool isAsGood(const Problem &there, const PlanResult &best) const {
    std::optional<Problem> requested = requestScheme(there, layer, planned);
    if (!requested)
      return false;
    const double finish = finishOf(*requested, solve(*requested, quick(*requested)).plan);
    return finish <= finishOf(there, best.plan) * (1 + tolerance + std::max(0.0, best.gap()));
  }

  const merge::PlannedProblem &problem;
  const Planner &planner;
  std::size_t layer;
  Scheme planned;
};

Axis bandwidthAxis(const merge::PlannedProblem &problem, const Elsewhere &elsewhere) {
  Axis axis{.kind = Axis::Kind::bandwidth, .isMultiple = !problem.cluster().getLink()};
  const double planned = axis.isMultiple ? 1 : 1 / problem.cluster().getLink().getBeta();
  axis.range = {.planned = planned,
                .least = planned / furthestBandwidth,
                .most = planned * furthestBandwidth,
                .factor = gridFactor(problem.asPlanned())};
  axis.crossovers = findCrossovers<Scheme>(
      axis.range, [&](double value) { return elsewhere.otherAt({.bandwidth = value / planned}); });
  return axis;
}

Axis batchAxis(const merge::PlannedProblem &problem, std::optional<std::int64_t> samples,
               const Elsewhere &elsewhere) {
  Axis axis{.kind = Axis::Kind::batch, .isMultiple = !samples};
  const auto planned = static_cast<double>(samples.value_or(1));
  axis.range = {.planned = planned,
                .least = samples ? 1 : 1 / furthestBatch,
                .most = planned * furthestBatch,
                .step = samples ? 1.0 : 0.0,
                .factor = gridFactor(problem.asPlanned())};
  axis.crossovers = findCrossovers<Scheme>(
      axis.range, [&](double value) { return elsewhere.otherAt({.batch = value / planned}); });
  return axis;
}

Axis nodesAxis(const merge::PlannedProblem &problem, const Elsewhere &elsewhere) {
  const std::int64_t devices = problem.cluster().getDevicesPerNode(),
                     planned = problem.cluster().getRanks() / devices;
  const std::int64_t fewest = (merge::fewestRanks(problem.cluster()) + devices - 1) / devices,
                     least = std::max(fewest, std::int64_t{devices > 1 ? 1 : 2});
  Axis axis{.kind = Axis::Kind::nodes};
  axis.range = {.planned = static_cast<double>(planned),
                .least = static_cast<double>(std::min(planned, least)),
                .most = static_cast<double>(std::max(planned, maxNodes)),
                .step = 1,
                .factor = gridFactor(problem.asPlanned())};
  axis.crossovers = findCrossovers<Scheme>(axis.range, [&](double value) {
    return elsewhere.otherAt({.ranks = std::llround(value) * devices});
  });
  return axis;
}

/// The byte rule of a layer; a piggyback has its carrier's.
std::optional<ByteRule> byteRuleOf(const merge::PlannedProblem &problem, std::size_t layer) {
  const Layer &requested = problem.asPlanned().layers[layer];
  const Layer &sent = requested.factorOptions.empty() && requested.carrier
                          ? problem.asPlanned().layers[*requested.carrier]
                          : requested;
  auto factors = std::ranges::find_if(sent.factorOptions, isGathered, &FactorOption::scheme);
  if (factors == sent.factorOptions.end() || !problem.catalog().servers)
    return std::nullopt;
  ByteRule rule{factors->traffic,
                problem.catalog().servers->traffic * static_cast<double>(sent.bytes)};
  if (rule.factorBytes <= rule.serverBytes)
    rule.scheme = factors->scheme;
  return rule;
}

} // namespace

Result<Explanation> explain(const merge::PlannedProblem &problem, const Solution &plan,
                            const std::string &plannerName, std::size_t layer,
                            std::optional<std::int64_t> samples) {
  Result<std::shared_ptr<const Planner>> planner = plannerOfPlan(plannerName);
  if (!planner)
    return Status::error(ErrorKind::internal, planner.status().message());
  const Problem &planned = problem.asPlanned();
  Explanation explanation;
  explanation.chosen = schemeIn(planned, plan, layer);
  explanation.isPiggyback = std::ranges::binary_search(plan.piggybacks, layer);
  explanation.message = messageOf(planned, plan, layer);
  explanation.alternatives = alternativesOf(planned, plan, layer, quick(planned));
  explanation.grouping = groupingOf(planned, plan, layer, quick(planned));
  explanation.byteRule = byteRuleOf(problem, layer);
  if (problem.cluster().getRanks() == 1) // a single rank sends nothing and has no factors
    return explanation;
  explanation.plansAnew = (*planner)->plansAnew();
  if (!explanation.plansAnew)
    return explanation;
  explanation.measured = problem.measured();
  const Elsewhere elsewhere(problem, **planner, layer, explanation.chosen);
  if (explanation.measured.empty())
    explanation.axes.push_back(bandwidthAxis(problem, elsewhere));
  explanation.axes.push_back(batchAxis(problem, samples, elsewhere));
  if (explanation.measured.empty())
    explanation.axes.push_back(nodesAxis(problem, elsewhere));
  return explanation;
}

OrderExplanation explainOrder(const merge::PlannedModule &planned, std::size_t layer) {
  return explainOrder(*merge::toOrderProblem(planned.problemOp, planned.problem.asPlanned()),
                      planned.solution, merge::toOrderProof(planned.solutionOp), layer);
}

} // namespace syncline::explain
