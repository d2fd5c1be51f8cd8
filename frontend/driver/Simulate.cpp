// From a plan folder to a simulation, or to a sweep of them.
#include "frontend/driver/Simulate.h"

#include "codegen/folder/PlanFolder.h"
#include "codegen/folder/SmallerPlans.h"
#include "codegen/json/SyncJson.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/report/ConsistencyReport.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Provenance.h"
#include "frontend/report/SimulationReport.h"
#include "frontend/report/SimulationTrace.h"
#include "frontend/report/SweepJson.h"
#include "frontend/report/SweepReport.h"
#include "frontend/sweep/ConsistencyRun.h"
#include "frontend/sweep/SlowRanks.h"
#include "frontend/sweep/SweepRun.h"
#include "ir/FirstOf.h"
#include "ir/sync/Consistency.h"
#include "passes/Diagnostics.h"
#include "passes/simulate/SimulationSize.h"
#include "passes/simulate/ir/ReadScenario.h"
#include "syncline/OutputFile.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace mlir;

namespace syncline::driver {

namespace {

/// "plan vgg on lab, 8 ranks, until every rank has done 1000 steps".
std::string heading(const SimulateOptions &options, cluster::SpecAttr cluster,
                    const report::SimulationContext &context) {
  return "plan " + report::printable(context.plan) + " on " + report::printable(context.cluster) +
         ", " + std::to_string(cluster.getRanks()) + " ranks, until every rank has done " +
         std::to_string(options.steps.value_or(sweep::consistencySteps(cluster.getRanks()))) +
         " steps\n\n";
}

/// What each line of a sweep's JSON begins with.
nlohmann::json commonJson(const report::SimulationContext &context) {
  return {{"plan", context.hash}, {"cluster", context.cluster}};
}

/// Simulates a plan whose ranks have this consistency, and prints the result.
Status simulateConsistency(const SimulateOptions &options, const simulate::SimulatedPlan &plan,
                           cluster::SpecAttr cluster, const std::string &form,
                           const report::SimulationContext &context) {
  SYNCLINE_TRY_GET(point, sweep::runConsistency(plan, cluster, form, options));
  std::string text;
  if (options.json) {
    nlohmann::json json = report::consistencyJson(*point);
    json["plan"] = context.hash;
    json["cluster"] = context.cluster;
    json["steps"] = options.steps.value_or(sweep::consistencySteps(cluster.getRanks()));
    text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } else {
    text = heading(options, cluster, context) + report::consistencyReport({{*point}}) +
           context.provenance;
  }
  std::fputs(text.c_str(), stdout);
  return Status::ok();
}

/// Prints a table of each of the options' lists of consistencies, and writes CSV and SVG.
Status sweepConsistencies(const SimulateOptions &options, const simulate::SimulatedPlan &plan,
                          cluster::SpecAttr cluster, const report::SimulationContext &context) {
  for (const std::vector<std::string> &forms : options.consistencySweeps) {
    Result<sweep::ConsistencySweep> sweep = sweep::runConsistencies(plan, cluster, forms, options);
    if (!sweep)
      return Status::error(sweep.status().kind(),
                           "--sweep consistency: " + sweep.status().message());
    if (!options.csv.empty())
      SYNCLINE_TRY(writeWholeFile(options.csv, report::consistencyCsv(*sweep)));
    if (!options.plot.empty())
      SYNCLINE_TRY(writeWholeFile(
          options.plot, report::consistencySvg(*sweep, report::printable(context.plan) + " on " +
                                                           report::printable(context.cluster))));
    const std::string text =
        options.json ? report::consistencyJsonLines(*sweep, commonJson(context))
                     : heading(options, cluster, context) + report::consistencyTable(*sweep) + "\n";
    std::fputs(text.c_str(), stdout);
  }
  return Status::ok();
}

using simulate::Scenario;
using simulate::SimulatedPlan;

/// Refuses what would give a plan's ranks other batches than its own, where these are unequal.
Status expectOwnRanks(const SimulateOptions &options) {
  if (options.cluster.empty() && options.sweeps.empty() && options.consistencySweeps.empty())
    return Status::ok();
  return Status::badInput("'" + options.plan +
                          "': its batches are those of its own ranks: expected "
                          "a plan without '--balance' for " +
                          (options.cluster.empty() ? "'--sweep'" : "'--cluster'"));
}

/// Facts that the report needs besides the simulation. `samples` are the mean of the ranks.
Result<report::SimulationContext> contextOf(const SimulateOptions &options,
                                            const SimulatedPlan &plan, cluster::SpecAttr cluster,
                                            const nlohmann::json &document,
                                            std::optional<std::int64_t> samples) {
  report::SimulationContext context{.plan = document.at("name"),
                                    .hash = document.at("hashes").at("plan"),
                                    .cluster = cluster.getName().str(),
                                    .isElsewhere = cluster != plan.problem().cluster() ||
                                                   options.jitter > 0 || !options.slow.empty(),
                                    .predicted = plan.predictedStep(),
                                    .samples = samples,
                                    .microBatches = plan.microBatches(),
                                    .alone = samples == plan.samples() ? plan.aloneSeconds(1) : 0};
  SYNCLINE_TRY_GET(provenance, report::guarded([&] {
                     return report::provenanceText(document.value("provenance", nlohmann::json()),
                                                   codegen::clusterJson(cluster));
                   }));
  context.provenance = *provenance;
  return context;
}

Status simulateOnce(const SimulateOptions &options, const SimulatedPlan &plan,
                    cluster::SpecAttr cluster, const nlohmann::json &document,
                    const codegen::SizedFolders &folders) {
  if (Status fits = sweep::expectMemory(
          plan.memory(plan.problem().asPlanned(), plan.decisions(), {cluster}), cluster);
      !fits)
    return Status::badInput("the plan " + fits.message());
  SYNCLINE_TRY_GET(lastMicroBatch, plan.asPlanned(cluster));
  const bool isCarrying = plan.problem().hasOrder();
  lastMicroBatch->warmUp = isCarrying ? simulate::carriedWarmUp : 0;
  lastMicroBatch->steps = options.steps.value_or(1) + lastMicroBatch->warmUp;
  Scenario disturbed = *lastMicroBatch;
  SYNCLINE_TRY(sweep::slowRanks(disturbed.machines, options.slow));
  disturbed.jitter = options.jitter;
  disturbed.seed = options.seed;
  SYNCLINE_TRY(simulate::expectFits(disturbed, {.path = true, .trace = !options.trace.empty()},
                                    plan.microBatches()));
  const Scenario scenario = plan.wholeStep(disturbed), calm = plan.wholeStep(*lastMicroBatch);
  SYNCLINE_TRY_GET(simulation, simulate::runScenario(scenario));
  const bool isBalanced = folders.batches.has_value();
  SYNCLINE_TRY_GET(context, contextOf(options, plan, cluster, document,
                                      isBalanced ? folders.batches->equal : plan.samples()));
  if (!isBalanced || !options.slow.empty()) { // else each rank has as many samples as it can
    SYNCLINE_TRY_GET(
        stragglers,
        report::findStragglers(scenario, *simulation, isBalanced ? std::nullopt : plan.samples()));
    context->stragglers = std::move(*stragglers);
  }
  if (isCarrying && (options.jitter > 0 || !options.slow.empty())) {
    SYNCLINE_TRY_GET(
        late, report::compareLateRanks({scenario, plan.wholeStep(plan.inReadyOrder(disturbed))},
                                       *simulation,
                                       {calm, plan.wholeStep(plan.inReadyOrder(*lastMicroBatch))}));
    context->lateRanks = std::move(*late);
  }
  if (!options.trace.empty())
    SYNCLINE_TRY(writeWholeFile(options.trace,
                                report::simulationTrace(scenario, *simulation, context->hash)));
  const std::string text =
      options.json ? report::simulationJson(scenario, *simulation, *context)
                             .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
                         "\n"
                   : report::simulationReport(scenario, *simulation, *context);
  std::fputs(text.c_str(), stdout);
  return Status::ok();
}

/// Prints one sweep, or a grid, and writes CSV and SVG. The last two return them.
Status writeSweep(const SimulateOptions &options, const std::string &text, auto csv, auto plot) {
  if (!options.csv.empty())
    SYNCLINE_TRY(writeWholeFile(options.csv, csv()));
  if (!options.plot.empty())
    SYNCLINE_TRY(writeWholeFile(options.plot, plot()));
  std::fputs((options.json ? text : text + "\n").c_str(), stdout);
  return Status::ok();
}

/// Two axes are a grid; one or more than two are told of one by one.
Status sweepAll(const SimulateOptions &options, const SimulatedPlan &plan,
                cluster::SpecAttr cluster, const report::SimulationContext &context) {
  const std::string place = report::printable(context.plan) + " on " + context.cluster + ", ";
  const std::string how = options.replan ? "planned anew by " + plan.planner() : "decisions kept";
  if (options.sweepsGrid()) {
    SYNCLINE_TRY_GET(grid,
                     sweep::runGrid(plan, cluster, options.sweeps[0], options.sweeps[1], options));
    const bool comparesPlanners = options.sweeps[1].kind == sweep::SweepAxis::Kind::planner;
    return writeSweep(
        options,
        options.json ? report::gridJsonLines(*grid, commonJson(context)) : report::gridTable(*grid),
        [&] { return report::gridCsv(*grid); },
        [&] { return report::gridSvg(*grid, place + (comparesPlanners ? "planned anew" : how)); });
  }
  for (const sweep::SweepAxis &axis : options.sweeps) {
    SYNCLINE_TRY_GET(sweep, sweep::runSweep(plan, cluster, axis, options));
    SYNCLINE_TRY(writeSweep(
        options,
        options.json ? report::sweepJsonLines(*sweep, commonJson(context))
                     : report::sweepTable(*sweep),
        [&] { return report::sweepCsv(*sweep); },
        [&] { return report::sweepSvg(*sweep, place + how); }));
  }
  return Status::ok();
}

} // namespace

Status simulatePlan(const SimulateOptions &options) {
  for (const std::string &output : {options.trace, options.csv, options.plot})
    SYNCLINE_TRY(output.empty() ? Status::ok() : expectWritableFile(output));
  PlanContext context;
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(options.plan));
  SYNCLINE_TRY_GET(folders, codegen::readSmaller(options.plan));
  SYNCLINE_TRY(folders->batches ? expectOwnRanks(options) : Status::ok());
  SYNCLINE_TRY_GET(module, readPlanModule(options.plan, context));
  DiagnosticCollector diagnostics(&context);
  Result<SimulatedPlan> plan = SimulatedPlan::create(**module);
  if (!plan)
    return diagnostics.status("'" + options.plan + "/plan.mlir': " + plan.status().message());
  if (plan->microBatches() > 1 && !options.consistencySweeps.empty())
    return Status::badInput(
        "'" + options.plan + "': '--sweep consistency' knows steps of one batch, the plan's have " +
        std::to_string(plan->microBatches()) + "; expected a plan without '--accumulate'");
  auto cluster = (**module)->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!options.cluster.empty()) {
    SYNCLINE_TRY_GET(file, files::readClusterFile(options.cluster));
    cluster = cluster::withNccl(frontend::toAttr(*file, &context), cluster.getNccl());
  }
  const bool needsGradients = !options.sweeps.empty() || !options.trace.empty();
  SYNCLINE_TRY(needsGradients ? expectGradientsTravel(**module, options.plan,
                                                      options.trace.empty() ? "this '--sweep'"
                                                                            : "'simulate --trace'")
                              : Status::ok());
  const auto consistency = firstOf<sync::ProblemOp>(**module).getConsistencyAttr();
  const bool sweeps = !options.sweeps.empty() || !options.consistencySweeps.empty();
  if (!sweeps && !consistency)
    return simulateOnce(options, *plan, cluster, *document, *folders);
  SYNCLINE_TRY_GET(facts, contextOf(options, *plan, cluster, *document, plan->samples()));
  if (!sweeps)
    return simulateConsistency(options, *plan, cluster, sync::consistencyText(consistency), *facts);
  SYNCLINE_TRY(sweepAll(options, *plan, cluster, *facts));
  SYNCLINE_TRY(sweepConsistencies(options, *plan, cluster, *facts));
  if (!options.json)
    std::fputs(facts->provenance.c_str(), stdout);
  return Status::ok();
}

} // namespace syncline::driver
