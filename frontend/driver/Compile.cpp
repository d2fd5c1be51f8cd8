// `syncline compile`: model and cluster in, plan folder out.
#include "frontend/driver/Compile.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/BackendOption.h"
#include "frontend/driver/ChooseConsistency.h"
#include "frontend/driver/CompileBalanced.h"
#include "frontend/driver/CompileNotes.h"
#include "frontend/driver/CompileSizes.h"
#include "frontend/driver/PlanAsked.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/PrepareModel.h"
#include "frontend/driver/StepDoubt.h"
#include "frontend/files/Paths.h"
#include "frontend/report/Closing.h"
#include "passes/Diagnostics.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <optional>

using namespace mlir;

namespace syncline::driver {

bool isTrace(const std::string &model) {
  return llvm::StringRef(model).ends_with_insensitive(".csv");
}

Status compile(const CompileOptions &options) {
  if (!options.sizes.empty())
    return compileSizes(options);
  if (options.balance)
    return compileBalanced(options);
  PlanContext context;
  std::optional<CompileProgress> progress(std::in_place, /*isShown=*/!options.quiet);
  const auto enter = [&progress](const std::string &phase) { progress->enter(phase); };
  SYNCLINE_TRY_GET(model, prepareModel(options, context, *progress));
  const CompileRequest &request = model->request;
  SYNCLINE_TRY_GET(planned,
                   planForms(request.plan, request.openForms, [&](const candidates::Request &form) {
                     return planAsked(form, request.paths, *model->module, enter);
                   }));
  const ModuleOp module = *planned->choice.plan;
  SYNCLINE_TRY(addRange(request, *model->module, module, enter));
  DiagnosticCollector diagnostics(&context);
  codegen::PlanSources sources{
      module, model->info,           files::runtimeIncludes(), std::move(model->files),
      enter,  options.followsCluster};
  Result<nlohmann::json> written = codegen::writePlan(options.output, sources);
  progress.reset();
  if (!written)
    return written.status();
  warnOfClashes(module);
  if (options.quiet)
    return Status::ok();
  if (request.assumesDevice)
    noteAssumedDevice();
  noteSlowNodes(module);
  if (options.schemes.empty())
    noteRing(*request.plan.asked.planner, module, *written);
  std::fputs(planned->trade.c_str(), stderr);
  noteChoice(planned->choice);
  if (!model->inventory.empty())
    std::fprintf(stderr, "syncline: %s\n", model->inventory.c_str());
  noteUncompiled(*written);
  noteBackend(*written, request.cluster.device.kind);
  Result<std::string> closing = report::compileClosing(*written, options.output);
  if (closing)
    std::fputs(closing->c_str(), stderr);
  return closing.status();
}

} // namespace syncline::driver
