// Writes what a plan says as JSON; times in seconds, sizes in bytes.
#include "codegen/json/EmitPlanJson.h"

#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"

#include <algorithm>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline {

namespace {

constexpr int schemaNumber = 1;
/// Two times agree when they differ by at most this share: as passes/solver/MergeChecker.h.
constexpr double checkerTolerance = 1e-12;

Status missing(llvm::StringRef what) {
  return Status::error(ErrorKind::internal, ("the module has no '" + what + "'").str());
}

Json nullableReal(std::optional<cluster::Real> value) {
  return value ? Json(static_cast<double>(*value)) : Json(nullptr);
}

Json costJson(Attribute cost) {
  if (auto formula = dyn_cast<cluster::FormulaAttr>(cost))
    return {{"kind", "formula"},
            {"algorithm", cluster::stringifyScheme(formula.getAlgorithm()).str()},
            {"ranks", formula.getRanks()},
            {"alpha", static_cast<double>(formula.getAlpha())},
            {"beta", static_cast<double>(formula.getBeta())},
            {"gamma", static_cast<double>(formula.getGamma())}};
  if (auto line = dyn_cast<cluster::AffineAttr>(cost))
    return {{"kind", "line"},
            {"a", static_cast<double>(line.getA())},
            {"b", static_cast<double>(line.getB())}};
  Json points = Json::array();
  if (auto table = dyn_cast<cluster::TableAttr>(cost))
    for (const cluster::Point &point : table.getPoints())
      points.push_back({point.bytes, static_cast<double>(point.seconds)});
  return {{"kind", "table"}, {"points", points}};
}

Json clusterJson(cluster::SpecAttr spec) {
  cluster::DeviceAttr device = spec.getDevice();
  return {{"name", spec.getName().str()},
          {"ranks", spec.getRanks()},
          {"device",
           {{"compute", nullableReal(device.getCompute())},
            {"memory", nullableReal(device.getMemory())},
            {"launch_overhead", static_cast<double>(device.getLaunchOverhead())}}},
          {"all_reduce", costJson(cluster::firstAllReduce(spec))}};
}

Json numbers(llvm::ArrayRef<cluster::Real> values) {
  Json list = Json::array();
  for (cluster::Real value : values)
    list.push_back(static_cast<double>(value));
  return list;
}

/// What the solution claims about the step as a whole.
void addPrediction(Json &plan, sync::ProblemOp problem, sync::SolutionOp solution) {
  const double backwardEnd = problem.getBackwardEnd().convertToDouble(),
               finish = solution.getFinish().convertToDouble(),
               bound = solution.getBound().convertToDouble(),
               updates = problem.getUpdates().convertToDouble();
  plan["planner"] = solution.getPlanner().str();
  plan["predicted"] = {{"step", std::max(backwardEnd, finish) + updates},
                       {"forward_end", problem.getForwardEnd().convertToDouble()},
                       {"backward_end", backwardEnd},
                       {"communication_end", finish},
                       {"exposed", std::max(0.0, finish - backwardEnd)},
                       {"updates", updates},
                       {"bound", bound},
                       {"gap", bound > 0 ? std::max(0.0, finish / bound - 1) : 0.0}};
  plan["optimal"] =
      solution.getCertificate().has_value() && finish <= bound * (1 + checkerTolerance);
  plan["certificate"] = nullptr;
  if (auto proof = solution.getCertificate())
    plan["certificate"] = {{"finish_times", numbers(cast<sync::TimesAttr>(*proof).getValues())}};
}

Json layersJson(sync::ProblemOp problem) {
  Json layers = Json::array();
  for (auto [name, bytes, ready] : llvm::zip(problem.getLayers().getAsRange<StringAttr>(),
                                             problem.getBytes(), problem.getReady().getValues()))
    layers.push_back(
        {{"name", name.str()}, {"bytes", bytes}, {"ready", static_cast<double>(ready)}});
  return layers;
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
  return {{"kind", "values"}, {"values", values}};
}

/// Tensors that have values before the first step: the model's, and constants of the plan.
Json storedTensor(plan::TensorOp tensor) {
  Json json = namedTensor(tensor);
  const bool isConstant = isa_and_nonnull<ElementsAttr>(tensor.getInitAttr());
  json["kind"] = tensor.getSpace() == plan::Space::parameters ? "parameter"
                 : isConstant                                 ? "constant"
                                                              : "state";
  json["bytes"] = plan::denseBytes(cast<MemRefType>(tensor.getType()));
  json["offset"] = tensor.getValues() ? Json(*tensor.getValues()) : Json(nullptr);
  json["init"] = initJson(tensor.getInitAttr());
  return json;
}

Json bucketJson(plan::BucketOp bucket) {
  Json members = Json::array();
  for (auto name : bucket.getMembers().getAsRange<StringAttr>())
    members.push_back(name.str());
  return {{"id", bucket.getId()},
          {"members", members},
          {"bytes", bucket.getBytes()},
          {"scheme", bucket.getScheme().str()},
          {"channel", bucket.getChannel()},
          {"ready", bucket.getReady().convertToDouble()},
          {"start", bucket.getStart().convertToDouble()},
          {"end", bucket.getEnd().convertToDouble()},
          {"offset", bucket.getOffset()},
          {"extent", bucket.getExtent()}};
}

/// The only tensor of a space.
Result<Json> onlyTensor(plan::ProgramOp program, plan::Space space) {
  Json found;
  for (auto tensor : program.getOps<plan::TensorOp>()) {
    if (tensor.getSpace() != space)
      continue;
    if (!found.is_null())
      return Status::badInput(("the model has more than one " + plan::stringifySpace(space) +
                               ": '" + found["name"].get<std::string>() + "' and '" +
                               tensor.getName() + "'")
                                  .str());
    found = namedTensor(tensor);
  }
  if (found.is_null())
    return Status::badInput(("the model has no " + plan::stringifySpace(space)).str());
  return found;
}

llvm::StringRef lossName(plan::ProgramOp program) {
  for (auto call : program.getOps<plan::CallOp>())
    if (call.getCallee() == plan::Kernel::meanSquaredError)
      return "mse";
  return "cross-entropy";
}

Status addProgram(Json &plan, plan::ProgramOp program) {
  for (plan::Space space : {plan::Space::input, plan::Space::target}) {
    Result<Json> only = onlyTensor(program, space);
    if (!only)
      return only.status();
    plan[plan::stringifySpace(space).str()] = *only;
  }
  plan["runnable"] = true;
  plan["batch"] = program.getBatch();
  plan["loss"] = lossName(program).str();
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
  return Status::ok();
}

/// A trace has no program: buckets follow from problem and solution alone.
void addTraceBuckets(Json &plan, sync::ProblemOp problem, sync::SolutionOp solution) {
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>()) {
    Json members = Json::array();
    for (std::int64_t layer : message.getLayers())
      members.push_back(cast<StringAttr>(problem.getLayers()[layer]).str());
    plan["buckets"].push_back({{"id", plan["buckets"].size()},
                               {"members", members},
                               {"bytes", message.getBytes()},
                               {"scheme", cluster::stringifyScheme(message.getScheme()).str()},
                               {"channel", 0},
                               {"ready", static_cast<double>(message.getReady())},
                               {"start", static_cast<double>(message.getStart())},
                               {"end", static_cast<double>(message.getEnd())},
                               {"offset", nullptr},
                               {"extent", nullptr}});
  }
}

template <typename Op> Op firstOf(ModuleOp module) {
  auto range = module.getOps<Op>();
  return range.empty() ? Op() : *range.begin();
}

} // namespace

Result<Json> emitPlanJson(ModuleOp module, const PlanInfo &info) {
  auto problem = firstOf<sync::ProblemOp>(module);
  auto solution = firstOf<sync::SolutionOp>(module);
  auto spec = module->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (!problem)
    return missing("sync.problem");
  if (!solution)
    return missing("sync.solution");
  if (!spec)
    return missing("cluster.spec");
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>())
    for (std::int64_t layer : message.getLayers())
      if (layer >= static_cast<std::int64_t>(problem.getLayers().size()))
        return Status::badInput("the solution has more layers than its problem");

  Json plan = {{"schema", schemaNumber},
               {"version", info.version},
               {"name", info.name},
               {"ranks", spec.getRanks()},
               {"batch", nullptr},
               {"loss", nullptr},
               {"backend", "cpu"},
               {"runnable", false},
               {"input", nullptr},
               {"target", nullptr},
               {"output", nullptr},
               {"tensors", Json::array()},
               {"memory", nullptr},
               {"buckets", Json::array()},
               {"layers", layersJson(problem)},
               {"cluster", clusterJson(spec)},
               {"hashes",
                {{"model", info.modelHash},
                 {"cluster", info.clusterHash},
                 {"files", Json::object()},
                 {"plan", ""}}}};
  addPrediction(plan, problem, solution);
  if (auto program = firstOf<plan::ProgramOp>(module)) {
    if (Status added = addProgram(plan, program); !added)
      return added;
  } else {
    addTraceBuckets(plan, problem, solution);
  }
  try {
    (void)plan.dump();
  } catch (const Json::exception &) {
    return Status::badInput("a name in '" + info.name + "' is not UTF-8");
  }
  return plan;
}

} // namespace syncline
