// Reading plan.json.
#include "runtime/run/plan/Plan.h"

#include "runtime/core/Labels.h"
#include "runtime/launch/DeviceFlags.h"
#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/plan/PlanChecks.h"
#include "runtime/run/plan/PlanJson.h"
#include "syncline/PlanConstants.h"
#include "syncline/PlanFiles.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace syncline::run {
namespace {

Status bad(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

Shape shape(const Json &object) {
  Shape extents;
  for (const Json &extent : get<Json::array_t>(object, "shape"))
    extents.push_back(integer(extent, "shape"));
  std::int64_t count = 1;
  for (std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > 1ll << 42)
      throw SchemaError{"impossible shape " + data::describe(extents)};
  return extents;
}

NamedTensor namedTensor(const Json &object) {
  return {get<std::string>(object, "name"), elementType(object), shape(object)};
}

PlanInput planInput(const Json &object) {
  PlanInput input;
  static_cast<NamedTensor &>(input) = namedTensor(object);
  if (object.contains("rows"))
    input.rowCount = size(object, "rows", 1);
  if (object.contains("element_rows")) {
    std::int64_t elements = 1;
    for (std::size_t d = 1; d < input.shape.size(); ++d)
      elements *= input.shape[d];
    for (const Json &rows : get<Json::array_t>(object, "element_rows"))
      input.elementRows.push_back(integer(rows, "element_rows"));
    if (std::ssize(input.elementRows) != elements ||
        std::ranges::any_of(input.elementRows, [](std::int64_t rows) { return rows < 0; }))
      throw SchemaError{"'element_rows': expected " + std::to_string(elements) +
                        " numbers from 0 on, got " + std::to_string(input.elementRows.size())};
  }
  input.isWhole = object.contains("of");
  input.source = input.isWhole ? get<std::string>(object, "of") : input.name;
  return input;
}

TensorInit tensorInit(const Json &init) {
  auto kind = get<std::string>(init, "kind");
  if (kind == "constant")
    return {TensorInit::Kind::constant, get<double>(init, "value"), 0, {}};
  if (kind == "normal")
    return {TensorInit::Kind::normal, get<double>(init, "mean"), get<double>(init, "scale"), {}};
  if (kind == "uniform")
    return {TensorInit::Kind::uniform, get<double>(init, "low"), get<double>(init, "high"), {}};
  if (kind == "values")
    return {TensorInit::Kind::values, 0, 0, get<std::vector<double>>(init, "values")};
  throw SchemaError{"unknown kind of initial values '" + kind + "'"};
}

PlanTensor::Kind tensorKind(const Json &object) {
  auto kind = get<std::string>(object, "kind");
  if (kind == "parameter")
    return PlanTensor::Kind::parameter;
  if (kind == "state")
    return PlanTensor::Kind::state;
  if (kind == "constant")
    return PlanTensor::Kind::constant;
  throw SchemaError{"unknown kind of tensor '" + kind + "'"};
}

PlanTensor planTensor(const Json &object) {
  PlanTensor t;
  t.name = get<std::string>(object, "name");
  t.kind = tensorKind(object);
  t.type = elementType(object);
  t.shape = shape(object);
  if (!member(object, "offset").is_null())
    t.offset = size(object, "offset", 0);
  else
    t.init = tensorInit(member(object, "init"));
  if (t.init.kind == TensorInit::Kind::values &&
      static_cast<std::int64_t>(t.init.values.size()) != core::elementCount(t.shape))
    throw SchemaError{"tensor '" + t.name + "' has " + std::to_string(t.init.values.size()) +
                      " values, expected " + std::to_string(core::elementCount(t.shape))};
  return t;
}

launch::RunShape runShape(const Json &json) {
  const PlanRanks read = planRanks(json);
  launch::RunShape shape;
  shape.ranks = read.ranks;
  shape.servers = read.servers;
  shape.ranksPerNode = read.perNode;
  shape.sparesWorkers = shape.servers > 0 && readForm(json).isAsynchronous();
  return shape;
}

std::optional<NamedTensor> planTarget(const Json &json, const TrainedLoss &loss) {
  const Json &target = member(json, "target");
  if (target.is_null() == loss.hasTargets())
    throw SchemaError{"'target': expected " + std::string(loss.hasTargets() ? "a tensor" : "null") +
                      " with the loss '" + loss.text() + "'"};
  return target.is_null() ? std::nullopt : std::optional(namedTensor(target));
}

TrainedLoss trainedLoss(const Json &json) {
  Result<TrainedLoss> loss = TrainedLoss::parse(get<std::string>(json, "loss"));
  if (!loss)
    throw SchemaError{"'loss': " + loss.status().message()};
  if (loss->weightsFrom.empty())
    return *loss;
  loss->classWeights = get<std::vector<double>>(member(json, "options"), TrainedLoss::inPlan);
  if (const Status s = TrainedLoss::checkWeights(loss->classWeights); !s)
    throw SchemaError{"'" + std::string(TrainedLoss::inPlan) + "': " + s.message()};
  return *loss;
}

Plan planFrom(const Json &json) {
  Plan plan;
  plan.name = get<std::string>(json, "name");
  plan.planner = get<std::string>(json, "planner");
  plan.backend = get<std::string>(json, "backend");
  if (plan.backend != "cpu" && plan.backend != "cuda")
    throw SchemaError{"'backend': expected cpu or cuda, got '" + plan.backend + "'"};
  plan.loss = trainedLoss(json);
  const auto optimizer = get<std::string>(json, "optimizer");
  const std::optional<OptimizerKind> kind = parseOptimizer(optimizer);
  if (!kind)
    throw SchemaError{"unknown optimizer '" + optimizer + "'"};
  plan.optimizer = *kind;
  const auto precision = launch::parsePrecision(get<std::string>(json, "precision"));
  if (!precision)
    throw SchemaError{"unknown 'precision' '" + get<std::string>(json, "precision") + "'"};
  plan.precision = *precision;
  plan.wire = planWire(json);
  plan.overlapsSteps = overlapsSteps(json);
  if (json.contains("clip_norm") && !json.at("clip_norm").is_null()) {
    plan.clipNorm = get<double>(json, "clip_norm");
    if (!(*plan.clipNorm >= 1e-30 && *plan.clipNorm <= 1e30))
      throw SchemaError{"'clip_norm': expected a number from 1e-30 to 1e30, got " +
                        json.at("clip_norm").dump()};
  }
  plan.microBatches = planMicroBatches(json);
  const launch::RunShape shape = runShape(json);
  plan.ranks = shape.ranks;
  plan.servers = shape.servers;
  plan.ranksPerNode = shape.ranksPerNode;
  plan.batch = size(json, "batch", 1);
  for (const Json &input : get<Json::array_t>(json, "inputs"))
    plan.inputs.push_back(planInput(input));
  if (plan.inputs.empty())
    throw SchemaError{"'inputs' is empty"};
  plan.unneededInputs = get<std::vector<std::string>>(json, "unneeded_inputs");
  plan.target = planTarget(json, plan.loss);
  if (json.contains("output") && !json.at("output").is_null())
    plan.output = namedTensor(json.at("output"));
  TensorTypes types;
  for (const Json &t : member(json, "tensors")) {
    plan.tensors.push_back(planTensor(t));
    if (!types.emplace(plan.tensors.back().name, plan.tensors.back().type).second)
      throw SchemaError{"tensor '" + plan.tensors.back().name + "' is there twice"};
  }
  for (const Json &b : member(json, "buckets"))
    plan.buckets.push_back(planBucket(b, types));
  const Json &memory = member(json, "memory");
  plan.sizes.arena = size(memory, "arena", 0);
  plan.sizes.parameters = size(memory, "parameters", 0);
  plan.sizes.gradients = size(memory, "gradients", 0);
  plan.sizes.state = size(memory, "state", 0);
  plan.consistency = readConsistency(json, plan.sizes.parameters, plan.ranks, plan.servers);
  if (plan.consistency.isLocal() && plan.wire != core::WirePrecision::fp32)
    throw SchemaError{"'wire': expected fp32 (rule P31), since with '" + plan.consistency.text +
                      "' weights travel, got '" + std::string(wireName(plan.wire)) + "'"};
  plan.predictedStep = prediction(member(json, "predicted"), "step");
  const Json &predicted = member(json, "predicted");
  plan.predictsMean = predicted.value("scatters", false);
  if (predicted.contains("micro_batch") && !predicted.at("micro_batch").is_null())
    plan.predictedMicroBatch = prediction(predicted, "micro_batch");
  if (json.contains("provenance") && json.at("provenance").contains("threads"))
    plan.threads = size(json.at("provenance"), "threads", 1);
  plan.plannedStep = prediction(member(member(json, "predicted"), "planner"), "step");
  plan.predictedTraffic = prediction(member(json, "predicted"), "traffic");
  return plan;
}

/// Checks the hashes of plan.json and of all files that it lists.
Status checkHashes(const std::string &folder, const Json &json, Plan &plan) {
  SYNCLINE_TRY_GET(hash, checkedHash(folder, json));
  plan.hash = std::move(*hash);
  const Json &hashes = json.at("hashes");
  if (hashes.contains("model"))
    plan.modelHash = get<std::string>(hashes, "model");
  const Json &files = member(hashes, "files");
  for (const auto &[name, hash] : files.items()) {
    if (name.find('/') != std::string::npos || !hash.is_string())
      throw SchemaError{"'hashes.files' is malformed"};
    SYNCLINE_TRY_GET(actual, sha256OfFile(plan.file(name)));
    if (*actual != hash.get<std::string>())
      return bad(plan.file(name), "the file was changed after it was compiled: its hash differs");
  }
  plan.hasSkeleton = files.contains("model.onnx");
  if (!files.contains("step.so"))
    throw SchemaError{files.contains("step.cu") ? notCompiled : "no hash of 'step.so'"};
  for (const PlanTensor &t : plan.tensors)
    if (t.offset && !files.contains("weights.bin"))
      throw SchemaError{"no hash of 'weights.bin'"};
  return Status::ok();
}

} // namespace

std::optional<double> Plan::stepOf(int count) const {
  if (count == microBatches)
    return predictedStep;
  if (!predictedMicroBatch)
    return std::nullopt;
  return predictedStep + (count - microBatches) * *predictedMicroBatch;
}

double Plan::trafficOf(int count) const {
  double bytes = predictedTraffic;
  for (const PlanBucket &bucket : buckets)
    if (isGathered(bucket.scheme))
      bytes += (count - microBatches) * bucket.traffic;
  return bytes;
}

double Plan::usualTimeout(int count) const {
  // With local updates a rank waits for another's window. A micro-batch takes no longer than
  // a step.
  const int longer = (count + microBatches - 1) / microBatches;
  const double minSeconds = 30, steps = 20.0 * longer * static_cast<double>(consistency.window());
  return std::max(minSeconds, steps * std::max(predictedStep, plannedStep));
}

data::SampleFormat Plan::sampleFormat() const {
  data::SampleFormat format;
  for (const PlanInput &input : inputs)
    format.inputs.push_back(
        {input.source, input.type, input.shape, input.rowCount, input.isWhole, input.elementRows});
  format.unneeded = unneededInputs;
  format.classes = loss.hasClassTargets();
  format.hasTargets = target.has_value();
  if (!target)
    return format;
  format.targetType = target->type;
  format.targetShape = target->shape;
  if (format.classes && output && output->shape.size() > 1)
    format.classCount = output->shape[core::classAxis(output->shape, target->shape)];
  if (format.classes && !loss.classWeights.empty()) {
    format.classWeights = loss.classWeights;
    format.classCount = std::ssize(loss.classWeights);
  }
  return format;
}

Result<launch::RunShape> readRunShape(const std::string &folder) {
  SYNCLINE_TRY_GET(json, readPlanFile(folder));
  try {
    return runShape(*json);
  } catch (const SchemaError &e) {
    return bad(folder + "/plan.json", e.message);
  }
}

Result<Plan> loadPlan(const std::string &folder) {
  SYNCLINE_TRY_GET(json, readPlanFile(folder));
  std::string path = folder + "/plan.json";
  try {
    member(*json, "hashes");
    if (!get<bool>(*json, "runnable"))
      return bad(folder, "the plan comes from a layer trace: it has messages for scripts of "
                         "PyTorch, but no program to run");
    Plan plan = planFrom(*json);
    plan.folder = folder;
    SYNCLINE_TRY(checkHashes(folder, *json, plan));
    SYNCLINE_TRY(checkSamples(plan));
    auto bytes = [](const NamedTensor &t) {
      return (core::elementCount(t.shape) * core::elementBytes(t.type) + 63) / 64 * 64;
    };
    for (const PlanInput &input : plan.inputs)
      plan.sizes.input += bytes(input);
    plan.sizes.target = plan.target ? bytes(*plan.target) : 0;
    return plan;
  } catch (const SchemaError &e) {
    return bad(path, e.message);
  } catch (const Json::exception &e) {
    return bad(path, e.what());
  }
}

} // namespace syncline::run
