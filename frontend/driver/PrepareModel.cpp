// Reads the inputs of `compile` and puts them on the module.
#include "frontend/driver/PrepareModel.h"

#include "codegen/folder/Hashes.h"
#include "codegen/step/StepTarget.h"
#include "frontend/driver/CompileNotes.h"
#include "frontend/driver/ModelTrace.h"
#include "frontend/driver/PrecisionOption.h"
#include "frontend/driver/RecordedOptions.h"
#include "frontend/driver/StepTrace.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/ir/TraceModule.h"
#include "frontend/onnx/ImportOnnx.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/cluster/MessageScatter.h"
#include "ir/cluster/SpecFields.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/solver/Planner.h"
#include "syncline/OutputFile.h"
#include <filesystem>

#include <memory>

using namespace mlir;

namespace syncline::driver {
namespace {

/// A model or a layer trace as a module, and the other contents of the plan folder.
struct Source {
  OwningOpRef<ModuleOp> module;
  std::vector<codegen::PlanFile> files;
  std::vector<std::string> unneededInputs;
  std::string inventory; ///< which of the model's tensors are planned; empty for a layer trace
};

Result<Source> readModel(const std::string &path, const frontend::ImportOptions &import,
                         MLIRContext &context, CompileProgress &progress, bool says) {
  SYNCLINE_TRY_GET(imported, frontend::importOnnx(path, import, context));
  if (says)
    printNotes(imported->notes, progress);
  auto model = std::make_shared<frontend::ImportedModel>(std::move(*imported));
  Source source;
  source.module = std::move(model->module);
  source.unneededInputs = std::move(model->unneededInputs);
  source.inventory = inventoryText(model->inventory);
  source.files.push_back({"weights.bin", [model](const std::string &path) {
                            return writeWholeFile(
                                path, [&](std::ostream &out) { return model->weights.write(out); });
                          }});
  source.files.push_back({"model.onnx", [model](const std::string &path) {
                            return writeWholeFile(path, model->skeleton);
                          }});
  return source;
}

/// The layer trace that was made from a model, as a file of the plan.
codegen::PlanFile layersFile(const files::LayerTrace &trace) {
  return {"layers.csv", [text = files::formatLayerTrace(trace)](const std::string &path) {
            return writeWholeFile(path, text);
          }};
}

/// Reads a model to plan for alone: its step, or its layers with their times where an operation
/// cannot be trained.
Result<Source> readLayers(const CompileRequest &request, MLIRContext &context,
                          CompileProgress &progress, bool says) {
  Result<Source> step = readModel(request.paths.model, request.import, context, progress, says);
  if (step || step.status().kind() != ErrorKind::badInput) {
    if (step)
      step->files.clear(); // a plan that is not run has no weights
    return step;
  }
  Source source;
  SYNCLINE_TRY_GET(trace, readModelTrace(request, context, progress, source.inventory));
  if (says)
    printNotes({whyNoStep(step.status())}, progress);
  source.module = frontend::traceModule(*trace, request.paths.model, context);
  source.files.push_back(layersFile(*trace));
  return source;
}

Result<Source> readSource(const CompileRequest &request, MLIRContext &context,
                          CompileProgress &progress, bool says) {
  if (request.import.shapesSuffice)
    return readLayers(request, context, progress, says);
  const std::string &model = request.paths.model;
  if (!isTrace(model))
    return readModel(model, request.import, context, progress, says);
  SYNCLINE_TRY_GET(module, frontend::readTraceModule(model, context));
  Source source;
  source.module = std::move(*module);
  return source;
}

/// Whether the layers are DistributedDataParallel's messages, as SYNCLINE_RECORD writes them.
bool hasMessages(sync::TraceOp trace) {
  return llvm::all_of(trace.getOps<sync::LayerOp>(), [](sync::LayerOp layer) {
    StringRef name = layer.getName();
    unsigned number = 0;
    return name.consume_front("message-") && !name.getAsInteger(10, number);
  });
}

/// Refuses an order for a trace that does not say when the forward pass reads parameters; where an
/// order is left open, it is not looked for.
Status settleOrder(const std::string &path, sync::TraceOp trace, candidates::Request &plan) {
  const std::string overlap =
      candidates::overlapFor(*plan.asked.planner, plan.opensOverlap ? "auto" : plan.asked.overlap);
  const bool isTimed = llvm::any_of(trace.getOps<sync::LayerOp>(), [](sync::LayerOp layer) {
    return layer.getForward().convertToDouble() > 0;
  });
  if (overlap == "backward" || (isTimed && !hasMessages(trace)))
    return Status::ok();
  if (overlap == plan::overlapStep)
    return Status::badInput(
        "'" + path + "': '--overlap step' needs to know when the forward pass reads parameters: " +
        (isTimed ? "expected layers, got messages of DistributedDataParallel"
                 : "expected times of layers' forward passes, got none"));
  plan.opensOverlap = false;
  plan.asked.overlap = "backward";
  return Status::ok();
}

/// A profile's times hold for its own batch only: refuses another one.
Status checkBatch(const std::string &path, const files::Profile &profile, ModuleOp module) {
  for (auto step : module.getOps<nn::StepOp>()) {
    auto inputs = step.getOps<nn::InputOp>();
    if (!profile.batch || inputs.empty())
      continue;
    const std::int64_t batch =
        cast<ShapedType>((*inputs.begin())->getResult(0).getType()).getDimSize(0);
    if (batch != *profile.batch)
      return Status::badInput("'" + path + "' was measured with batch " +
                              std::to_string(*profile.batch) + ", expected " +
                              std::to_string(batch) + " as this plan's");
  }
  return Status::ok();
}

/// Attaches cluster, profile, optimizer, precision and wire to the module as attributes, which the
/// passes read.
Status attachRequest(const CompileRequest &request, ModuleOp module) {
  const files::ClusterFile &cluster = request.cluster;
  const std::optional<files::Profile> &profile = request.profile;
  module->setAttr(cluster::specAttr,
                  cluster::withNccl(frontend::toAttr(cluster, module.getContext()),
                                    codegen::findTarget(request.backend)->usesNccl));
  module->setAttr(cluster::provenanceAttr, frontend::provenanceAttr(cluster, module.getContext()));
  if (!cluster.messageScatter.empty())
    cluster::setMessageScatter(module, cluster.messageScatter);
  if (request.optimizer != OptimizerKind::sgd)
    module->setAttr(nn::optimizerAttr,
                    StringAttr::get(module.getContext(), optimizerName(request.optimizer)));
  if (request.wire != wireName(WirePrecision::fp32))
    module->setAttr(cluster::wireAttr, StringAttr::get(module.getContext(), request.wire));
  const std::string &path = request.paths.profile;
  attachPrecision(request.precision, profile ? &*profile : nullptr, path, request.knowsPrecision,
                  module);
  if (!profile)
    return Status::ok();
  const std::string file = std::filesystem::path(path).filename().string();
  module->setAttr(cluster::provenanceAttr,
                  frontend::provenanceAttr(cluster, *profile, file, module.getContext()));
  SYNCLINE_TRY(checkBatch(path, *profile, module));
  Builder builder(module.getContext());
  module->setAttr(cluster::profileAttr, frontend::toAttr(*profile, module.getContext()));
  if (profile->update)
    module->setAttr(cluster::updateAttr, builder.getF64FloatAttr(*profile->update));
  if (profile->overhead)
    module->setAttr(cluster::overheadAttr, builder.getF64FloatAttr(*profile->overhead));
  if (!profile->scatter.empty())
    module->setAttr(cluster::scatterAttr, frontend::scatterAttr(*profile, module.getContext()));
  return Status::ok();
}

Result<codegen::PlanInfo> describe(const InputPaths &paths, const std::string &backend) {
  SYNCLINE_TRY_GET(model, codegen::sha256OfFile(paths.model));
  SYNCLINE_TRY_GET(cluster, codegen::sha256OfFile(paths.cluster));
  return codegen::PlanInfo{SYNCLINE_VERSION, std::filesystem::path(paths.model).stem().string(),
                           *model, *cluster, backend};
}

} // namespace

Result<PreparedModel> prepareModel(const CompileOptions &options, MLIRContext &context,
                                   CompileProgress &progress, bool says) {
  SYNCLINE_TRY_GET(request, readRequest(options, context));
  SYNCLINE_TRY_GET(info, describe(request->paths, request->backend));
  progress.enter("reading");
  SYNCLINE_TRY_GET(source, readSource(*request, context, progress, says));
  info->unneededInputs = std::move(source->unneededInputs);
  if (isTrace(options.model))
    SYNCLINE_TRY(
        settleOrder(options.model, firstOf<sync::TraceOp>(*source->module), request->plan));
  SYNCLINE_TRY(attachRequest(*request, *source->module));
  info->options =
      recordOptions({request->import, options.recompute, options.schemes,
                     nn::precisionOf(*source->module).str(), request->import.shapesSuffice});
  if (options.planOnly && firstOf<nn::StepOp>(*source->module)) {
    SYNCLINE_TRY_GET(trace,
                     replaceStep(source->module, options.model,
                                 [&progress](const std::string &phase) { progress.enter(phase); }));
    source->files.push_back(layersFile(*trace));
  }
  return PreparedModel{std::move(*request), std::move(*info), std::move(source->module),
                       std::move(source->files), std::move(source->inventory)};
}

} // namespace syncline::driver
