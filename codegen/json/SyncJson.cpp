// Problem, solution and cluster as JSON; times in seconds, sizes in bytes.
#include "codegen/json/SyncJson.h"

#include "codegen/json/ComparedJson.h"
#include "codegen/json/MessageFacts.h"
#include "codegen/json/OrderJson.h"
#include "ir/cluster/Cluster.h"
#include "ir/sync/Sync.h"
#include "passes/problem/Rounding.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mlir;
using Json = nlohmann::json;

namespace syncline::codegen {

namespace {

Json real(cluster::Real value) { return static_cast<double>(value); }

template <typename T> Json nullable(std::optional<T> value) {
  return value ? Json(*value) : Json(nullptr);
}
template <> Json nullable(std::optional<cluster::Real> value) {
  return value ? real(*value) : Json(nullptr);
}

Json nullable(FloatAttr value) { return value ? Json(value.getValueAsDouble()) : Json(nullptr); }

Json costJson(Attribute cost) {
  if (auto formula = dyn_cast<cluster::FormulaAttr>(cost))
    return {{"kind", "formula"},
            {"algorithm", cluster::stringifyScheme(formula.getAlgorithm()).str()},
            {"ranks", formula.getRanks()},
            {"alpha", real(formula.getAlpha())},
            {"beta", real(formula.getBeta())},
            {"gamma", real(formula.getGamma())}};
  if (auto line = dyn_cast<cluster::AffineAttr>(cost))
    return {{"kind", "line"}, {"a", real(line.getA())}, {"b", real(line.getB())}};
  Json points = Json::array();
  if (auto table = dyn_cast<cluster::TableAttr>(cost))
    for (const cluster::Point &point : table.getPoints())
      points.push_back({point.bytes, real(point.seconds)});
  return {{"kind", "table"}, {"points", points}};
}

/// Adds a number that need not be stated.
void addStated(Json &json, const char *key, std::optional<cluster::Real> value) {
  if (value)
    json[key] = real(*value);
}

Json linkJson(cluster::LinkAttr link) {
  if (!link)
    return nullptr;
  return {{"alpha", real(link.getAlpha())},
          {"beta", real(link.getBeta())},
          {"gamma", real(link.getGamma())},
          {"protocols", link.getProtocols() != nullptr}};
}

Json serversJson(cluster::ServersAttr servers) {
  if (!servers)
    return nullptr;
  return {{"count", servers.getCount()},
          {"dedicated", servers.getDedicated()},
          {"link", linkJson(servers.getLink())},
          {"memory", nullable(servers.getMemory())}};
}

Json relaxationJson(const sync::RelaxationRow &row, std::size_t mergeClasses) {
  Json json = {real(row.channelWeight), real(row.heldWeight)};
  for (std::size_t mergeClass = 0; mergeClass < mergeClasses; ++mergeClass) {
    json.push_back(real(row.lines[mergeClass].latency));
    json.push_back(real(row.lines[mergeClass].secondsPerByte));
  }
  return json;
}

Json certificateJson(sync::ProblemOp problem, sync::SolutionOp solution) {
  if (!solution.getCertificate())
    return nullptr;
  if (auto times = dyn_cast<sync::TimesAttr>(*solution.getCertificate())) {
    Json list = Json::array();
    for (cluster::Real value : times.getValues())
      list.push_back(real(value));
    return {{"finish_times", list}};
  }
  if (isa<sync::OrderAttr>(*solution.getCertificate()))
    return orderProofJson(problem, solution);
  Json relaxations = Json::array();
  for (const sync::RelaxationRow &row :
       cast<sync::RelaxationsAttr>(*solution.getCertificate()).getRows())
    relaxations.push_back(relaxationJson(row, problem.getMergeClasses().size()));
  return {{"bound", solution.getBound().convertToDouble()}, {"relaxations", relaxations}};
}

/// Layers and schemes that the problem has; the bytes that a node moves for all messages in a step
/// of so many micro-batches. What is gathered travels in each of them.
Result<double> checkedTraffic(sync::ProblemOp problem, sync::SolutionOp solution,
                              std::int64_t microBatches) {
  const auto layers = static_cast<std::int64_t>(problem.getLayers().size());
  const MessageFacts facts(problem, solution);
  double total = 0;
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>()) {
    if (llvm::any_of(message.getLayers(), [&](std::int64_t layer) { return layer >= layers; }))
      return Status::badInput("the solution has more layers than its problem");
    const std::optional<double> traffic = facts.traffic(message);
    if (!traffic)
      return Status::badInput(("the solution has a message by '" +
                               cluster::stringifyScheme(message.getScheme()) +
                               "', which its problem does not offer")
                                  .str());
    total += *traffic * (message.isFactors() ? static_cast<double>(microBatches) : 1);
  }
  return total;
}

/// Seconds of computation that all messages take, in the planner's model.
double lostOf(sync::ProblemOp problem, sync::SolutionOp solution) {
  const MessageFacts facts(problem, solution);
  double lost = 0;
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>())
    lost += facts.lost(message);
  return lost;
}

/// The step in the planner's model. An order's finish is the step; every other solution's is
/// followed by the updates.
double stepOf(sync::ProblemOp problem, double finish) {
  return problem.getTails() ? finish : finish + problem.getUpdates().convertToDouble();
}

/// When the planner's model has all gradients agreed and computation done.
double finishOf(sync::ProblemOp problem, sync::SolutionOp solution) {
  return std::max(problem.getBackwardEnd().convertToDouble(),
                  solution.getFinish().convertToDouble());
}

/// Seconds of all micro-batches of a step but the last one.
struct EarlierMicroBatches {
  double least = 0; ///< by any plan
  double own = 0;   ///< by this one, in the planner's model
  double excess() const { return own - least; }
};

/// Where nothing is gathered, micro-batches only compute and add, and none takes longer than it
/// must. What is gathered travels in each micro-batch; the planner's model says nothing of that,
/// virtual time does.
EarlierMicroBatches earlierOf(sync::SolutionOp solution, sync::PredictionOp prediction,
                              std::int64_t microBatches) {
  auto microBatch = prediction.getMicroBatchAttr(),
       leastMicroBatch = prediction.getLeastMicroBatchAttr();
  if (microBatches == 1 || !microBatch || !leastMicroBatch)
    return {};
  const auto earlier = static_cast<double>(microBatches - 1);
  const bool gathers = llvm::any_of(solution.getMessages().getAsRange<sync::MessageAttr>(),
                                    [](sync::MessageAttr message) { return message.isFactors(); });
  const double least = leastMicroBatch.getValueAsDouble();
  return {earlier * least,
          earlier * (gathers ? std::max(least, microBatch.getValueAsDouble()) : least)};
}

} // namespace

Json clusterJson(cluster::SpecAttr spec) {
  cluster::DeviceAttr device = spec.getDevice();
  Json overrides = Json::array();
  for (cluster::OverrideAttr change : spec.getOverrides())
    overrides.push_back({{"nodes", change.getNodes().vec()},
                         {"slowdown", real(change.getSlowdown())},
                         {"link", linkJson(change.getLink())}});
  Json collectives = Json::array();
  for (cluster::CollectiveAttr stated : spec.getCollectives()) {
    collectives.push_back({{"scheme", cluster::stringifyScheme(stated.getScheme()).str()},
                           {"cost", costJson(stated.getCost())}});
    addStated(collectives.back(), "interference", stated.getInterference());
    addStated(collectives.back(), "products_interference", stated.getProducts());
    addStated(collectives.back(), "memory_interference", stated.getMemory());
  }
  Json json = {
      {"name", spec.getName().str()},
      {"ranks", spec.getRanks()},
      {"devices_per_node", spec.getDevicesPerNode()},
      {"cards_per_node", spec.getCardsPerNode()},
      {"groups", spec.getGroups()},
      {"device",
       {{"compute", nullable(device.getCompute())},
        {"memory", nullable(device.getMemory())},
        {"launch_overhead", real(device.getLaunchOverhead())},
        {"memory_size", nullable(device.getMemorySize())},
        {"like", device.getKernels() ? Json(device.getKernels().getLike().str()) : Json()}}},
      {"link", linkJson(spec.getLink())},
      {"inside", linkJson(spec.getInside())},
      {"half_duplex", spec.getHalfDuplex()},
      {"interference", real(spec.getInterference())},
      {"latency_interference", nullable(spec.getLatencyInterference())},
      {"message_interference", nullable(spec.getMessageInterference())},
      {"collectives", collectives},
      {"servers", serversJson(spec.getServers())},
      {"largest_message", nullable(spec.getLargestMessage())},
      {"overrides", overrides}};
  addStated(json, "products_interference", spec.getProductsInterference());
  addStated(json, "memory_interference", spec.getMemoryInterference());
  return json;
}

Json layersJson(sync::ProblemOp problem) {
  Json layers = Json::array();
  for (auto [name, bytes, ready] : llvm::zip(problem.getLayers().getAsRange<StringAttr>(),
                                             problem.getBytes(), problem.getReady().getValues()))
    layers.push_back({{"name", name.str()}, {"bytes", bytes}, {"ready", real(ready)}});
  if (problem.getTails())
    for (auto [layer, tail] : llvm::zip(layers, problem.getTails()->getValues()))
      layer["tail"] = real(tail);
  return layers;
}

Status addAgreement(Json &plan, sync::ProblemOp problem, sync::SolutionOp solution,
                    sync::PredictionOp prediction, std::int64_t microBatches) {
  SYNCLINE_TRY(checkedTraffic(problem, solution, microBatches));
  const double finish = finishOf(problem, solution), bound = solution.getBound().convertToDouble();
  plan["planner"] = solution.getPlanner().str();
  plan["requested"] = Json::array();
  if (problem.getRequested())
    for (StringRef text : problem.getRequestedAttr().getAsValueRange<StringAttr>())
      plan["requested"].push_back(text.str());
  plan["optimal"] =
      solution.getCertificate().has_value() && solution.channels() == 1 &&
      problem::isProved(finish + earlierOf(solution, prediction, microBatches).excess(), bound);
  plan["certificate"] = certificateJson(problem, solution);
  return Status::ok();
}

Json predictionJson(sync::ProblemOp problem, sync::SolutionOp solution,
                    sync::PredictionOp prediction, std::int64_t microBatches) {
  const EarlierMicroBatches earlier = earlierOf(solution, prediction, microBatches);
  const double finish = finishOf(problem, solution), bound = solution.getBound().convertToDouble();
  auto overhead = prediction->getParentOp()->getAttrOfType<FloatAttr>(cluster::overheadAttr);
  const double least = bound + earlier.least, lost = lostOf(problem, solution);
  Json planner = {{"step", stepOf(problem, finish) + earlier.own},
                  {"finish", finish},
                  {"bound", bound},
                  {"earlier", earlier.least},
                  {"gap", bound > 0 ? std::max(0.0, (finish + earlier.own) / least - 1) : 0.0}};
  if (lost > 0)
    planner["lost"] = lost;
  Json json = {{"alone", nullable(prediction.getAloneAttr())},
               {"step", prediction.getStep().convertToDouble()},
               {"micro_batch", nullable(prediction.getMicroBatchAttr())},
               {"unclipped", nullable(prediction.getUnclippedAttr())},
               {"whole", nullable(prediction.getWholeAttr())},
               {"gathering", nullable(prediction.getGatheringAttr())},
               {"forward_end", prediction.getForwardEnd().convertToDouble()},
               {"backward_end", prediction.getBackwardEnd().convertToDouble()},
               {"communication_end", prediction.getCommunicationEnd().convertToDouble()},
               {"reconstruction_end", prediction.getReconstructionEnd().convertToDouble()},
               {"exposed", prediction.exposedSeconds()},
               {"updates", prediction.getUpdates().convertToDouble()},
               {"overhead", overhead ? overhead.getValueAsDouble() : 0},
               {"scatters", prediction->getParentOp()->hasAttr(cluster::scatterAttr)},
               {"traffic", *checkedTraffic(problem, solution, microBatches)},
               {"planner", std::move(planner)}};
  json.update(comparedJson(prediction));
  return json;
}

/// Adds the all-gather of a bucket in halves, whose times stand at `place` of the prediction.
static void addSecondHalf(Json &bucket, sync::GatherAttr gather, sync::PredictionOp prediction,
                          std::size_t place) {
  const auto at = [&](sync::TimesAttr times) { return real(times.getValues()[place]); };
  bucket["reconstructed"] = at(prediction.getReconstructed());
  bucket["exposed"] =
      real(bucket["exposed"].get<double>() + double(prediction.getExposed().getValues()[place]));
  bucket["all_gather"] = {{"place", gather.getPlace()},
                          {"ready", at(prediction.getReady())},
                          {"start", at(prediction.getStart())},
                          {"end", at(prediction.getEnd())}};
}

Status addPredictedTimes(Json &buckets, sync::ProblemOp problem, sync::SolutionOp solution,
                         sync::PredictionOp prediction) {
  const std::size_t count = solution.getMessages().size();
  if (buckets.size() != count ||
      prediction.getReady().getValues().size() != solution.placeOfGather(count))
    return Status::badInput("the plan has " + std::to_string(buckets.size()) +
                            " buckets and times of " +
                            std::to_string(prediction.getReady().getValues().size()) +
                            ", its solution " + std::to_string(count) + " messages");
  const MessageFacts facts(problem, solution);
  for (Json &bucket : buckets) {
    const auto id = bucket["id"].get<std::size_t>();
    if (id >= count)
      return Status::badInput("bucket " + std::to_string(id) + " is no message of the solution");
    auto message = cast<sync::MessageAttr>(solution.getMessages()[id]);
    if (!message.getCut().empty())
      bucket["cut"] = message.getCut().vec();
    bucket["traffic"] = facts.traffic(message).value_or(0);
    bucket["ready"] = real(prediction.getReady().getValues()[id]);
    bucket["start"] = real(prediction.getStart().getValues()[id]);
    bucket["end"] = real(prediction.getEnd().getValues()[id]);
    bucket["reconstructed"] = real(prediction.getReconstructed().getValues()[id]);
    bucket["exposed"] = real(prediction.getExposed().getValues()[id]);
    if (sync::GatherAttr gather = message.getGather())
      addSecondHalf(bucket, gather, prediction, solution.placeOfGather(id));
  }
  return Status::ok();
}

Json traceBucketsJson(sync::ProblemOp problem, sync::SolutionOp solution) {
  const MessageFacts facts(problem, solution);
  Json buckets = Json::array();
  for (auto message : solution.getMessages().getAsRange<sync::MessageAttr>())
    buckets.push_back({{"id", buckets.size()},
                       {"members", facts.members(message)},
                       {"bytes", facts.memberBytes(message)},
                       {"scheme", cluster::stringifyScheme(message.getScheme()).str()},
                       {"channel", message.getChannel()},
                       {"offset", nullptr},
                       {"extent", nullptr}});
  return buckets;
}

std::int64_t dedicatedServers(cluster::SpecAttr spec, sync::SolutionOp solution) {
  cluster::ServersAttr servers = spec.getServers();
  const bool isUsed = llvm::any_of(solution.getMessages().getAsRange<sync::MessageAttr>(),
                                   [](sync::MessageAttr message) {
                                     return message.getScheme() == cluster::Scheme::parameterServer;
                                   });
  return isUsed && servers && servers.getDedicated() ? servers.getCount() : 0;
}

} // namespace syncline::codegen
