// `syncline compile`: model and cluster in, plan folder out.
#include "frontend/driver/Compile.h"

#include "codegen/json/Hashes.h"
#include "codegen/json/PlanFolder.h"
#include "frontend/driver/Diagnostics.h"
#include "frontend/driver/Paths.h"
#include "frontend/driver/TraceModule.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/files/ToAttr.h"
#include "frontend/onnx/ImportOnnx.h"
#include "passes/Pipeline.h"
#include "passes/RegisterAll.h"
#include "passes/solver/Planner.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace mlir;

namespace syncline::driver {
namespace {

/// A model or a trace, as a module, with what goes into the plan folder beside it.
struct Source {
  OwningOpRef<ModuleOp> module;
  std::vector<PlanFile> files;
};

Status writeFile(const std::string &path, const std::function<Status(std::ostream &)> &write) {
  std::ofstream out(path, std::ios::binary);
  Status written;
  if (out)
    written = write(out);
  if (out && !written)
    return written;
  out.flush();
  if (!out)
    return Status::badInput("cannot write '" + path + "'");
  return Status::ok();
}

Result<Source> readModel(const CompileOptions &options, MLIRContext &context) {
  ImportOptions import{.batch = options.batch,
                       .freeze = options.freeze,
                       .dropout = options.dropout,
                       .output = options.modelOutput};
  import.loss = options.loss == "mse" ? nn::LossKind::mse : nn::LossKind::cross_entropy;
  Result<ImportedModel> imported = importOnnx(options.model, import, context);
  if (!imported)
    return imported.status();
  for (const std::string &note : imported->notes)
    std::fprintf(stderr, "syncline: note: %s\n", note.c_str());
  auto model = std::make_shared<ImportedModel>(std::move(*imported));
  Source source;
  source.module = std::move(model->module);
  source.files.push_back({"weights.bin", [model](const std::string &path) {
                            return writeFile(
                                path, [&](std::ostream &out) { return model->weights.write(out); });
                          }});
  source.files.push_back({"model.onnx", [model](const std::string &path) {
                            return writeFile(path, [&](std::ostream &out) {
                              out.write(model->skeleton.data(),
                                        static_cast<std::streamsize>(model->skeleton.size()));
                              return Status::ok();
                            });
                          }});
  return source;
}

Result<Source> readSource(const CompileOptions &options, MLIRContext &context) {
  if (!isTrace(options.model))
    return readModel(options, context);
  Result<OwningOpRef<ModuleOp>> module = readTraceModule(options.model, context);
  if (!module)
    return module.status();
  Source source;
  source.module = std::move(*module);
  return source;
}

/// Cluster and profile become attributes of the module, where the passes read them.
Status attachCluster(const CompileOptions &options, ModuleOp module) {
  Result<files::ClusterFile> cluster = files::readClusterFile(options.cluster);
  if (!cluster)
    return cluster.status();
  module->setAttr(cluster::specAttr, files::toAttr(*cluster, module.getContext()));
  if (options.profile.empty())
    return Status::ok();
  Result<files::Profile> profile = files::readProfile(options.profile);
  if (!profile)
    return profile.status();
  module->setAttr(cluster::profileAttr, files::toAttr(*profile, module.getContext()));
  return Status::ok();
}

Status runPipeline(ModuleOp module, const std::string &planner) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager passes(module.getContext());
  buildPipeline(passes, {planner});
  if (failed(passes.run(module)))
    return diagnostics.status("planning failed without a reason");
  return Status::ok();
}

/// Inputs are read more than once, which a pipe does not allow; a device could go on for ever.
Status expectFile(const std::string &path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return Status::badInput(
        "'" + path + "': cannot open: " +
        (std::filesystem::is_directory(path, error) ? "is a directory" : "not a regular file"));
  return Status::ok();
}

Result<PlanInfo> describe(const CompileOptions &options) {
  for (const std::string &path : {options.model, options.cluster, options.profile})
    if (Status s = expectFile(path); !s)
      return s;
  Result<std::string> model = sha256OfFile(options.model), cluster = sha256OfFile(options.cluster);
  if (!model || !cluster)
    return model ? cluster.status() : model.status();
  return PlanInfo{SYNCLINE_VERSION, std::filesystem::path(options.model).stem().string(), *model,
                  *cluster};
}

} // namespace

bool isTrace(const std::string &model) {
  const std::string extension = std::filesystem::path(model).extension().string();
  return llvm::StringRef(extension).equals_insensitive(".csv");
}

Status compile(const CompileOptions &options) {
  if (Result<std::shared_ptr<const solver::Planner>> planner =
          solver::parsePlanner(options.planner);
      !planner)
    return planner.status();
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  Result<PlanInfo> info = describe(options);
  if (!info)
    return info.status();
  Result<Source> source = readSource(options, context);
  if (!source)
    return source.status();
  if (Status attached = attachCluster(options, *source->module); !attached)
    return attached;
  if (Status planned = runPipeline(*source->module, options.planner); !planned)
    return planned;
  DiagnosticCollector diagnostics(&context);
  PlanSources sources{*source->module, *info, runtimeIncludes(), std::move(source->files)};
  Result<nlohmann::json> plan = writePlan(options.output, sources);
  return plan ? Status::ok() : plan.status();
}

} // namespace syncline::driver
