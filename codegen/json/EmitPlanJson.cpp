// Writes a plan as JSON, times in seconds and sizes in bytes.
#include "codegen/json/EmitPlanJson.h"

#include "codegen/json/ConsistencyJson.h"
#include "codegen/json/NumberedRows.h"
#include "codegen/json/ProvenanceJson.h"
#include "codegen/json/SyncJson.h"
#include "codegen/step/StepTarget.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/OptimizerState.h"
#include "ir/plan/Plan.h"
#include "ir/plan/RankMemory.h"
#include "syncline/TrainedLoss.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

namespace {

/// The blocks that are recomputed, the operations that run again, their seconds and the bytes that
/// the arena saves; null where the program recomputes nothing.
Json recomputedJson(plan::ProgramOp program) {
  auto stated = program->getAttrOfType<DictionaryAttr>(nn::recomputationAttr);
  if (!stated)
    return nullptr;
  Json blocks = Json::array();
  for (auto name : nn::blocksOf(stated).getAsRange<StringAttr>())
    blocks.push_back(name.str());
  std::int64_t operations = 0;
  double seconds = 0;
  for (Operation &op : program.getBody().front())
    if (nn::isRecomputed(&op)) {
      ++operations;
      seconds += plan::secondsOf(&op);
    }
  return {{"blocks", blocks},
          {"operations", operations},
          {"seconds", seconds},
          {"freed", nn::freedOf(stated).getInt()}};
}

Status missing(llvm::StringRef what) {
  return Status::error(ErrorKind::internal, ("the module has no '" + what + "'").str());
}

Json shapeJson(MemRefType type) {
  return Json(std::vector<std::int64_t>(type.getShape().begin(), type.getShape().end()));
}

Json namedTensor(plan::TensorOp tensor) {
  auto type = cast<MemRefType>(tensor.getType());
  return {{"name", tensor.getName().str()},
          {"type", plan::elementName(type.getElementType()).str()},
          {"shape", shapeJson(type)}};
}

Json elementsJson(DenseElementsAttr elements) {
  Json values = Json::array();
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &value : elements.getValues<APFloat>()) {
      bool losesInfo = false;
      APFloat wide = value;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back(wide.convertToDouble());
    }
  else
    for (const APInt &value : elements.getValues<APInt>())
      values.push_back(elements.getElementType().isUnsignedInteger() ? value.getZExtValue()
                                                                     : value.getSExtValue());
  return values;
}

Json initJson(Attribute init) {
  if (auto drawn = dyn_cast_or_null<nn::InitAttr>(init)) {
    const double a = drawn.getA().getValueAsDouble(), b = drawn.getB().getValueAsDouble();
    switch (drawn.getKind()) {
    case nn::InitKind::constant:
      return {{"kind", "constant"}, {"value", a}};
    case nn::InitKind::normal:
      return {{"kind", "normal"}, {"mean", a}, {"scale", b}};
    case nn::InitKind::uniform:
      return {{"kind", "uniform"}, {"low", a}, {"high", b}};
    }
  }
  auto elements = dyn_cast_or_null<DenseElementsAttr>(init);
  if (!elements)
    return nullptr;
  const auto one = RankedTensorType::get({1}, elements.getElementType());
  if (elements.isSplat() && elements.getNumElements() > 1)
    return {{"kind", "constant"}, {"value", elementsJson(elements.resizeSplat(one))[0]}};
  return {{"kind", "values"}, {"values", elementsJson(elements)}};
}

/// A tensor that has values before the first step: one of the model's, or a constant of the plan.
Json storedTensor(plan::TensorOp tensor) {
  Json json = namedTensor(tensor);
  json["kind"] = tensor.getSpace() == plan::Space::parameters ? "parameter"
                 : plan::isConstant(tensor)                   ? "constant"
                                                              : "state";
  json["bytes"] = plan::denseBytes(cast<MemRefType>(tensor.getType()));
  json["offset"] = tensor.getValues() ? Json(*tensor.getValues()) : Json(nullptr);
  json["init"] = initJson(tensor.getInitAttr());
  return json;
}

Json inputJson(plan::TensorOp input, plan::ProgramOp program) {
  Json json = namedTensor(input);
  if (const std::vector<std::int64_t> rows = numberedRows(input, program); !rows.empty()) {
    std::vector<std::int64_t> tables = rows;
    std::erase(tables, 0);
    json["rows"] = *llvm::min_element(tables);
    if (!llvm::all_equal(rows))
      json["element_rows"] = rows;
  }
  if (input.getOf())
    json["of"] = input.getOf()->str();
  return json;
}

/// At least one.
Result<Json> inputsJson(plan::ProgramOp program) {
  Json inputs = Json::array();
  for (auto tensor : program.getOps<plan::TensorOp>())
    if (tensor.getSpace() == plan::Space::input)
      inputs.push_back(inputJson(tensor, program));
  return inputs.empty() ? Result<Json>(Status::badInput("the model has no input"))
                        : Result<Json>(std::move(inputs));
}

Json bucketJson(plan::BucketOp bucket) {
  Json members = Json::array();
  for (auto name : bucket.getMembers().getAsRange<StringAttr>())
    members.push_back(name.str());
  Json json = {{"id", bucket.getId()},           {"members", members},
               {"bytes", bucket.getBytes()},     {"scheme", schemeName(bucket.getScheme())},
               {"channel", bucket.getChannel()}, {"offset", bucket.getOffset()},
               {"extent", bucket.getExtent()}};
  if (bucket.getRows())
    json["rows"] = *bucket.getRows();
  return json;
}

/// Null where the model computes the loss itself.
Result<Json> targetJson(plan::ProgramOp program) {
  Json found;
  for (auto tensor : program.getOps<plan::TensorOp>()) {
    if (tensor.getSpace() != plan::Space::target)
      continue;
    if (!found.is_null())
      return Status::badInput("the model has more than one target: '" +
                              found["name"].get<std::string>() + "' and '" +
                              tensor.getName().str() + "'");
    found = namedTensor(tensor);
  }
  return found;
}

/// The loss that the options state.
Result<TrainedLoss> statedLoss(const Json &options) {
  const auto stated = options.find("loss"); // of a file, which may say anything
  if (stated == options.end() || !stated->is_string())
    return Status::badInput("'options' do not say which loss the step computes");
  return TrainedLoss::parse(stated->get<std::string>());
}

/// A kernel that compares with the target says which loss it computes. Of another loss only the
/// options know the name.
Result<std::string> lossText(plan::ProgramOp program, const Json &options, bool hasTarget) {
  if (!hasTarget) {
    SYNCLINE_TRY_GET(own, statedLoss(options));
    return own->hasTargets() ? Result<std::string>(Status::badInput("the model has no target"))
                             : Result<std::string>(own->text());
  }
  for (auto call : program.getOps<plan::CallOp>()) {
    if (call.getCallee() == plan::Kernel::meanSquaredError)
      return std::string("mse");
    if (call.getCallee() == plan::Kernel::crossEntropy) {
      TrainedLoss loss;
      if (auto smoothing = call->getAttrOfType<FloatAttr>("smoothing"))
        loss.smoothing = smoothing.getValueAsDouble();
      if (llvm::is_contained(call.getRoles().getAsValueRange<StringAttr>(), "weights"))
        loss.weightsFrom = TrainedLoss::inPlan;
      return loss.text();
    }
  }
  SYNCLINE_TRY_GET(loss, statedLoss(options));
  if (!loss->hasTargets())
    return Status::badInput("'options' state the loss '" + loss->text() +
                            "', but the step has a target");
  if (loss->hasKernel())
    return Status::badInput("'options' state the loss '" + loss->text() +
                            "', but no kernel of the step computes it");
  return loss->text();
}

Status addProgram(Json &plan, plan::ProgramOp program) {
  SYNCLINE_TRY_GET(inputs, inputsJson(program));
  SYNCLINE_TRY_GET(target, targetJson(program));
  SYNCLINE_TRY_GET(loss, lossText(program, plan["options"], !target->is_null()));
  plan["inputs"] = std::move(*inputs);
  plan["target"] = std::move(*target);
  plan["runnable"] = true;
  plan["batch"] = program.getBatch();
  plan["servers"] = program.getServers().value_or(0);
  plan["loss"] = std::move(*loss);
  plan["precision"] = nn::precisionOf(program->getParentOfType<ModuleOp>()).str();
  plan["overlap"] = program.getOverlap().value_or("backward").str();
  if (const std::optional<double> norm = plan::clipNormOf(program))
    plan["clip_norm"] = *norm;
  for (auto tensor : program.getOps<plan::TensorOp>()) {
    if (tensor.getSpace() == plan::Space::parameters || tensor.getSpace() == plan::Space::state)
      plan["tensors"].push_back(storedTensor(tensor));
    if (tensor.getOutput())
      plan["output"] = namedTensor(tensor);
  }
  for (auto bucket : program.getOps<plan::BucketOp>())
    plan["buckets"].push_back(bucketJson(bucket));
  for (plan::Space space :
       {plan::Space::arena, plan::Space::parameters, plan::Space::gradients, plan::Space::state}) {
    const std::string name = plan::stringifySpace(space).str();
    plan["memory"][name] = program.getSpaces().getAs<IntegerAttr>(name).getInt();
  }
  plan["memory"]["exchange"] = plan::exchangeBytes(program);
  plan["memory"]["optimizer"] = plan::optimizerBytes(program);
  plan["memory"]["sums"] = plan::sumsBytes(program);
  plan["memory"]["libraries"] = plan::libraryBytes(
      program->getParentOfType<ModuleOp>()->getAttrOfType<cluster::SpecAttr>(cluster::specAttr));
  if (Json recomputed = recomputedJson(program); !recomputed.is_null())
    plan["recomputed"] = std::move(recomputed);
  plan["consistency"] = consistencyJson(program);
  return Status::ok();
}

/// What a rank needs beside what its device has.
Json deviceMemoryJson(ModuleOp module) {
  const plan::RankMemory memory = plan::rankMemory(module);
  return {{"needed", memory.needed},
          {"size", memory.size ? Json(*memory.size) : Json(nullptr)},
          {"activations", memory.hasActivations}};
}

/// P24: the cluster has `nccl` exactly where NCCL carries the messages of the step's backend.
Status checkCarrier(const PlanInfo &info, cluster::SpecAttr spec) {
  const StepTarget *target = findTarget(info.backend);
  if (!target || target->usesNccl == spec.getNccl())
    return Status::ok();
  return Status::badInput("P24: the step is for backend '" + info.backend +
                          (target->usesNccl
                               ? "', expected messages planned for NCCL"
                               : "', expected messages that are not planned for NCCL"));
}

} // namespace

Result<Json> emitPlanJson(ModuleOp module, const PlanInfo &info) {
  auto problem = firstOf<sync::ProblemOp>(module);
  auto solution = firstOf<sync::SolutionOp>(module);
  auto prediction = firstOf<sync::PredictionOp>(module);
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!problem)
    return missing("sync.problem");
  if (!solution)
    return missing("sync.solution");
  if (!prediction)
    return missing("sync.prediction");
  if (!spec)
    return missing("cluster.spec");
  SYNCLINE_TRY(checkCarrier(info, spec));
  const auto planOnly = info.options.find("plan_only"); // of a file, which may say anything
  const bool isPlannedModel = planOnly != info.options.end() && *planOnly == true;
  Json plan = {{"schema", planSchema},
               {"version", info.version},
               {"name", info.name},
               {"ranks", spec.getRanks()},
               {"servers", dedicatedServers(spec, solution)},
               {"batch", nullptr},
               {"loss", nullptr},
               {"optimizer", optimizerName(nn::optimizerOf(module))},
               {"precision", nullptr},
               {"wire", wireName(cluster::wireOf(module))},
               {"overlap", problem.getTails() ? "step" : "backward"},
               {"clip_norm", nullptr},
               {"consistency", nullptr},
               {"backend", info.backend},
               {"nccl", spec.getNccl()},
               {"runnable", false},
               {"inputs", Json::array()},
               {"unneeded_inputs", info.unneededInputs},
               {"options", info.options},
               {"target", nullptr},
               {"output", nullptr},
               {"tensors", Json::array()},
               {"memory", nullptr},
               {"device_memory", deviceMemoryJson(module)},
               {"buckets", Json::array()},
               {"layers", layersJson(problem)},
               {"cluster", clusterJson(spec)},
               {"provenance", provenanceJson(module, isPlannedModel)},
               {"hashes",
                {{"model", info.modelHash},
                 {"cluster", info.clusterHash},
                 {"files", Json::object()},
                 {"plan", ""}}}};
  auto program = firstOf<plan::ProgramOp>(module);
  const std::int64_t microBatches = program ? plan::microBatchesOf(program) : 1;
  plan["accumulate"] = microBatches;
  SYNCLINE_TRY(addAgreement(plan, problem, solution, prediction, microBatches));
  plan["predicted"] = predictionJson(problem, solution, prediction, microBatches);
  if (program) {
    SYNCLINE_TRY(addProgram(plan, program));
    addExchanges(plan["predicted"], program, prediction);
  } else {
    plan["buckets"] = traceBucketsJson(problem, solution);
  }
  SYNCLINE_TRY(addPredictedTimes(plan["buckets"], problem, solution, prediction));
  try {
    (void)plan.dump();
  } catch (const Json::exception &) {
    return Status::badInput("a name in '" + info.name + "' is not UTF-8");
  }
  return plan;
}

} // namespace syncline::codegen
