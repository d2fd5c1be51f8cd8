// Prints and writes what consistencies trade.
#include "frontend/driver/SimulateConsistency.h"

#include "frontend/report/ConsistencyReport.h"
#include "frontend/report/PlanText.h"
#include "frontend/sweep/ConsistencyRun.h"
#include "syncline/OutputFile.h"

#include <nlohmann/json.hpp>

#include <cstdio>

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

} // namespace

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
      if (Status written = writeWholeFile(
              options.plot,
              report::consistencySvg(*sweep, report::printable(context.plan) + " on " +
                                                 report::printable(context.cluster)));
          !written)
        return written;
    std::fputs(
        (heading(options, cluster, context) + report::consistencyTable(*sweep) + "\n").c_str(),
        stdout);
  }
  return Status::ok();
}

} // namespace syncline::driver
