// From a plan to workers with a consistency.
#include "passes/simulate/ir/ReadWorkers.h"

#include "ir/FirstOf.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Consistency.h"
#include "passes/cost/SchemeCatalog.h"

#include <algorithm>

using namespace mlir;

namespace syncline::simulate {

namespace {

/// One message of weights.
struct Fragment {
  std::int64_t bytes = 0;
  std::optional<Scheme> scheme = std::nullopt;
};

/// The exchanges that the plan has for this consistency; none where its own is another.
std::vector<Fragment> plannedFragments(ModuleOp module, sync::ConsistencyAttr consistency) {
  std::vector<Fragment> fragments;
  auto program = firstOf<plan::ProgramOp>(module);
  if (program && program.getConsistencyAttr() == consistency)
    for (auto exchange : program.getOps<plan::ExchangeOp>())
      fragments.push_back({static_cast<std::int64_t>(exchange.getExtent()), exchange.getScheme()});
  return fragments;
}

/// Computation loses what it loses to the fragments that slow it most.
Status addExchanges(WorkerScenario &scenario, const std::vector<Fragment> &fragments,
                    cluster::SpecAttr cluster, const cost::SchemeCatalog &catalog) {
  scenario.machines.interference = 1;
  for (const Fragment &fragment : fragments) {
    const problem::SchemeOption *option =
        fragment.scheme ? catalog.option(*fragment.scheme)
        : catalog.collectives.empty()
            ? nullptr
            : &catalog.collectives[problem::fastestOption(catalog.collectives, fragment.bytes)];
    if (!option)
      return Status::badInput("the cluster does not offer " +
                              (fragment.scheme
                                   ? "'" + std::string(schemeName(*fragment.scheme)) + "'"
                                   : std::string("an all-reduce")));
    scenario.machines.interference =
        std::max(scenario.machines.interference, cluster::interference(cluster, option->scheme));
    scenario.exchanges.push_back(option->cost->seconds(fragment.bytes));
    scenario.exchangeTraffic += option->bytesMoved(fragment.bytes);
  }
  return Status::ok();
}

} // namespace

Consistency consistencyOf(sync::ConsistencyAttr consistency) {
  const bool isSsp = consistency.getForm() == sync::ConsistencyForm::ssp;
  return {.form = consistency.getForm(),
          .staleness = isSsp ? consistency.getUpper() : consistency.getLower(),
          .upper = consistency.getUpper(),
          .elastic = consistency.getVariant(),
          .period = consistency.getPeriod(),
          .fragments = consistency.getFragments(),
          .delay = consistency.getDelay()};
}

Result<WorkerScenario> readWorkers(const SimulatedPlan &plan, cluster::SpecAttr cluster,
                                   sync::ConsistencyAttr consistency) {
  WorkerScenario scenario;
  scenario.consistency = consistencyOf(consistency);
  scenario.machines = machinesOf(cluster);
  scenario.step = plan.aloneSeconds(1);
  for (const problem::Layer &layer : plan.problem().asPlanned().layers)
    scenario.bytes += layer.bytes;
  if (scenario.consistency.hasServers()) {
    scenario.machines.interference = cluster::interference(cluster, Scheme::parameterServer);
    return scenario;
  }
  SYNCLINE_TRY_GET(catalog, cost::catalogOf(cluster));
  std::vector<Fragment> fragments = plannedFragments(plan.planModule(), consistency);
  if (fragments.empty()) {
    Fragment one{.bytes = scenario.bytes / scenario.consistency.fragments};
    if (scenario.consistency.form == Consistency::Form::easgd)
      one.scheme = Scheme::tree;
    fragments.assign(static_cast<std::size_t>(scenario.consistency.fragments), one);
  }
  SYNCLINE_TRY(addExchanges(scenario, fragments, cluster, *catalog));
  return scenario;
}

} // namespace syncline::simulate
