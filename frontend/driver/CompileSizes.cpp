// Plans a model for each size of a dimension, by common decisions.
#include "frontend/driver/CompileSizes.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/BackendOption.h"
#include "frontend/driver/CompileNotes.h"
#include "frontend/driver/PlanAsked.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PrepareModel.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/Paths.h"
#include "frontend/report/Closing.h"
#include "passes/Diagnostics.h"
#include "passes/candidates/ChooseCommon.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>

using namespace mlir;

namespace syncline::driver {
namespace {

std::string sizeText(const CompileOptions &options, std::size_t i) {
  return options.varied + "=" + std::to_string(options.sizes[i]);
}

/// Reads the model once a size. What is noted of one holds for all.
Result<std::vector<PreparedModel>> prepareSizes(const CompileOptions &options, MLIRContext &context,
                                                CompileProgress &progress) {
  std::vector<PreparedModel> models;
  for (std::size_t i = 0; i < options.sizes.size(); ++i) {
    CompileOptions one = options;
    one.dimensions[options.varied] = options.sizes[i];
    Result<PreparedModel> model = prepareModel(one, context, progress, /*says=*/i == 0);
    if (!model && i > 0)
      return Status::error(model.status().kind(),
                           sizeText(options, i) + ": " + model.status().message());
    if (!model)
      return model.status();
    models.push_back(std::move(*model));
  }
  return models;
}

/// Notes each size's predicted step, and by how much its own best buckets would shorten it.
void noteSteps(const CompileOptions &options, const candidates::CommonChoice &common) {
  for (std::size_t i = 0; i < options.sizes.size(); ++i) {
    const double step = candidates::stepOf(*common.plans[i].plan);
    const std::string whose =
        i == common.decided ? ", whose buckets all sizes share"
                            : ", by buckets of its own " + files::formatSeconds(common.ownSteps[i]);
    std::fprintf(stderr, "syncline: %s: predicted step %s%s\n", sizeText(options, i).c_str(),
                 files::formatSeconds(step).c_str(), whose.c_str());
  }
}

} // namespace

Status compileSizes(const CompileOptions &options) {
  PlanContext context;
  std::optional<CompileProgress> progress(std::in_place, /*isShown=*/!options.quiet);
  const auto enter = [&progress](const std::string &phase) { progress->enter(phase); };
  SYNCLINE_TRY_GET(models, prepareSizes(options, context, *progress));
  std::vector<ModuleOp> modules;
  for (PreparedModel &model : *models)
    modules.push_back(*model.module);
  const CompileRequest &request = models->back().request;
  SYNCLINE_TRY_GET(
      common, candidates::chooseCommon(request.plan, modules, expectFits(request.paths), enter));
  DiagnosticCollector diagnostics(&context);
  const auto sourcesOf = [&](std::size_t i) {
    return codegen::PlanSources{*common->plans[i].plan, (*models)[i].info, files::runtimeIncludes(),
                                (*models)[i].files, enter};
  };
  codegen::SmallerPlans smaller{.dimension = options.varied, .largest = options.sizes.back()};
  for (std::size_t i = 0; i + 1 < options.sizes.size(); ++i)
    smaller.plans.emplace_back(options.sizes[i], sourcesOf(i));
  auto written = codegen::writePlans(options.output, sourcesOf(options.sizes.size() - 1), smaller);
  progress.reset();
  if (!written)
    return written.status();
  if (options.quiet)
    return Status::ok();
  if (request.assumesDevice)
    noteAssumedDevice();
  noteSlowNodes(*common->plans.back().plan);
  noteSteps(options, *common);
  if (!models->back().inventory.empty())
    std::fprintf(stderr, "syncline: %s\n", models->back().inventory.c_str());
  noteBackend(written->back(), request.cluster.device.kind);
  Result<std::string> closing = report::compileClosing(written->back(), options.output);
  if (closing)
    std::fputs(closing->c_str(), stderr);
  return closing.status();
}

} // namespace syncline::driver
