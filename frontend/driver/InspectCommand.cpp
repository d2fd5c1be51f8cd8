// `syncline inspect`: a plan's buckets, times and bound as a table, or what differs from another's.
#include "frontend/driver/AdviseDdp.h"
#include "frontend/driver/Commands.h"
#include "frontend/driver/PlotOption.h"
#include "frontend/driver/Why.h"
#include "frontend/report/BatchesTable.h"
#include "frontend/report/PlanDiff.h"
#include "frontend/report/PlanPlot.h"
#include "frontend/report/PlanReport.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/SizesTable.h"

#include "codegen/folder/PlanFolder.h"
#include "codegen/folder/SmallerPlans.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PlanModule.h"
#include "frontend/report/MeasuredReport.h"
#include "ir/plan/Plan.h"
#include "passes/Diagnostics.h"
#include "runtime/launch/CliChecks.h"
#include "syncline/OutputFile.h"

#include "CLI/CLI.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

using namespace mlir;

namespace syncline::driver {

namespace {

/// Predictions by layer are read from plan.mlir, since plan.json has none.
report::LayerSeconds layersOf(ModuleOp module) {
  report::LayerSeconds layers;
  module.walk([&](Operation *op) {
    if (isa<plan::CallOp, plan::PointwiseOp>(op) && op->hasAttr("seconds"))
      layers[plan::layerOf(op).str()] += plan::secondsOf(op);
  });
  return layers;
}

/// Compares the plan of `folder` with a trace of its run. Errors above `tolerance`, a fraction, get
/// hints. badInput where either cannot be read, or the trace belongs to another plan.
Result<report::Comparison> measurePlan(const std::string &folder, const std::string &trace,
                                       double tolerance) {
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(folder));
  SYNCLINE_TRY_GET(read, files::readChromeTrace(trace));
  if (!read->leftOut.empty())
    std::fprintf(stderr, "syncline: note: '%s': %s\n", trace.c_str(), read->leftOut.c_str());
  PlanContext context;
  SYNCLINE_TRY_GET(module, readPlanModule(folder, context));
  SYNCLINE_TRY(expectGradientsTravel(**module, folder, "--measured"));
  return report::compareMeasured(*plan, layersOf(**module), *read, tolerance, trace);
}

/// Reads "5%", "5 %" or "0.05" as 0.05. Errors: badUsage, naming `option`.
Result<double> parseFraction(const std::string &text, const std::string &option) {
  double value = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string unit(rest, end);
  const bool isPercent = unit == "%" || unit == " %";
  if (error != std::errc() || !(isPercent || unit.empty()) || !(value >= 0) ||
      !std::isfinite(value))
    return Status::error(ErrorKind::badUsage,
                         option + ": expected a part such as '5%', got '" + text + "'");
  return isPercent ? value / 100 : value;
}

struct InspectOptions {
  std::string plan;
  std::string other;    ///< plan folder to compare with; empty for none
  std::string why;      ///< a gradient to explain; empty for none
  std::string advise;   ///< "ddp"; empty for none
  std::string measured; ///< trace of a run; empty for none
  std::string maxError; ///< largest error accepted, a fraction as text; empty for any
  std::string plot;     ///< file to draw the plan to; empty for none
  bool members = false;
};

/// "a.plan" of "out/a.plan/".
std::string lastPart(const std::string &folder) {
  std::string text = folder;
  while (text.size() > 1 && text.back() == '/')
    text.pop_back();
  return std::filesystem::path(text).filename().string();
}

Result<std::string> compare(const InspectOptions &options, const nlohmann::json &plan) {
  SYNCLINE_TRY_GET(other, codegen::readPlanJson(options.other));
  std::string left = lastPart(options.plan), right = lastPart(options.other);
  if (left == right) {
    left = options.plan;
    right = options.other;
  }
  return report::planDiff({plan, left}, {*other, right});
}

Status inPlanJson(const InspectOptions &options, const Status &problem) {
  return Status::badInput("'" + options.plan + "/plan.json': " + problem.message());
}

Status draw(const InspectOptions &options, const nlohmann::json &plan) {
  Result<std::string> picture = report::planSvg(plan);
  if (!picture)
    return inPlanJson(options, picture.status());
  return writeWholeFile(options.plot, *picture);
}

/// The table of the folder's plans for several sizes, behind that of its ranks where these have
/// batches of their own; empty where it has one plan.
Result<std::string> sizesOf(const std::string &folder, const codegen::SizedFolders &folders,
                            const nlohmann::json &plan) {
  if (folders.smaller.empty())
    return std::string();
  std::string ranks;
  if (folders.batches) {
    SYNCLINE_TRY_GET(table, report::batchesTable(*folders.batches, plan));
    ranks = std::move(*table);
  }
  std::vector<nlohmann::json> documents;
  std::vector<report::SizedPlan> plans;
  documents.reserve(folders.smaller.size());
  for (const codegen::SizedFolder &smaller : folders.smaller) {
    SYNCLINE_TRY_GET(document, codegen::readPlanJson(smaller.folder));
    documents.push_back(std::move(*document));
    plans.push_back({smaller.size, smaller.folder, &documents.back()});
  }
  plans.push_back({folders.largest, folder, &plan});
  SYNCLINE_TRY_GET(table, report::sizesTable(folders.dimension, plans));
  return ranks + *table;
}

Result<std::string> reportOn(const InspectOptions &options) {
  if (!options.why.empty())
    return whyGradient(options.plan, options.why);
  if (!options.advise.empty())
    return adviseDdp(options.plan);
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(options.plan));
  if (!options.other.empty())
    return compare(options, *plan);
  SYNCLINE_TRY_GET(folders, codegen::readSmaller(options.plan));
  Result<std::string> report = report::planReport(
      *plan, options.members, folders->batches ? folders->batches->samples() : 0);
  if (!report)
    return inPlanJson(options, report.status());
  if (!options.plot.empty())
    SYNCLINE_TRY(draw(options, *plan));
  SYNCLINE_TRY_GET(sizes, sizesOf(options.plan, *folders, *plan));
  return *report + *sizes;
}

/// Prints the report before it fails on errors that are too large.
Status inspectMeasured(const InspectOptions &options) {
  constexpr double usualTolerance = 0.05;
  double limit = usualTolerance;
  if (!options.maxError.empty()) {
    SYNCLINE_TRY_GET(parsed, parseFraction(options.maxError, "--max-error"));
    limit = *parsed;
  }
  SYNCLINE_TRY_GET(comparison, measurePlan(options.plan, options.measured, limit));
  std::fputs(comparison->report.c_str(), stdout);
  if (options.maxError.empty() || std::fabs(comparison->worst) <= limit)
    return Status::ok();
  std::fflush(stdout);
  return Status::badInput(comparison->whose + " ends " +
                          report::percent(std::fabs(comparison->worst)) +
                          (comparison->worst < 0 ? " earlier" : " later") +
                          " than predicted, expected at most " + report::percent(limit));
}

Status inspect(const InspectOptions &options) {
  if (!options.measured.empty())
    return inspectMeasured(options);
  SYNCLINE_TRY(expectSvgName(options.plot));
  if (!options.plot.empty())
    SYNCLINE_TRY(expectWritableFile(options.plot));
  SYNCLINE_TRY_GET(report, reportOn(options));
  std::fputs(report->c_str(), stdout);
  return Status::ok();
}

} // namespace

Command addInspect(CLI::App &app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand("inspect", "Show a plan's buckets, times and bound");
  command->footer("Examples:\n"
                  "  syncline inspect model.plan --why fc.weight\n"
                  "  syncline inspect model.plan --diff ddp.plan\n"
                  "  syncline inspect model.plan --plot model.svg");
  command->add_option("PLAN", options->plan, "Folder that 'syncline compile' wrote")->required();
  command->add_flag("--members", options->members, "Name every gradient of every bucket");
  command
      ->add_option("--plot", options->plot,
                   "Draw computation and messages over virtual time to this file as well (SVG); "
                   "default: none")
      ->type_name("FILE")
      ->check(launch::someText());
  command
      ->add_option("--diff", options->other,
                   "Compare with this plan instead: predictions, and what travels otherwise")
      ->type_name("PLAN")
      ->check(launch::someText())
      ->excludes("--members")
      ->excludes("--plot");
  command
      ->add_option("--why", options->why,
                   "Explain one gradient instead: what every scheme costs, what the choice saves, "
                   "where it would be another; where a plan of '--overlap step' has an order, when "
                   "it must arrive and what overtook it; a parameter, a layer, the beginning of "
                   "either, or a glob")
      ->type_name("LAYER")
      ->check(launch::someText())
      ->excludes("--members")
      ->excludes("--plot")
      ->excludes("--diff");
  command
      ->add_option("--advise", options->advise,
                   "Say instead what a user of PyTorch's DistributedDataParallel can carry back "
                   "(ddp): bucket_cap_mb_list or bucket_cap_mb, and the step with it beside the "
                   "default's and the plan's")
      ->type_name("SYSTEM")
      ->check(CLI::IsMember({"ddp"}))
      ->excludes("--members")
      ->excludes("--plot")
      ->excludes("--diff")
      ->excludes("--why");
  auto *measured = command
                       ->add_option("--measured", options->measured,
                                    "Compare with what 'syncline run --trace' wrote: every bucket "
                                    "and the step, predicted and measured, worst first")
                       ->type_name("TRACE")
                       ->check(launch::someText())
                       ->excludes("--members")
                       ->excludes("--plot")
                       ->excludes("--diff")
                       ->excludes("--why")
                       ->excludes("--advise");
  command
      ->add_option("--max-error", options->maxError,
                   "Fail where the step or a bucket ends further from its prediction, with "
                   "--measured; a part such as 5%; default: any error passes")
      ->type_name("PART")
      ->check(launch::someText())
      ->needs(measured);
  return [options] { return inspect(*options); };
}

} // namespace syncline::driver
