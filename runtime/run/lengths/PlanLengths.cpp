// Reading lengths.json and comparing the plans.
#include "runtime/run/lengths/PlanLengths.h"

#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/plan/PlanJson.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanConstants.h"
#include "syncline/PlanFiles.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

namespace syncline::run {
namespace {

/// A plan as lengths.json lists it.
struct Listed {
  std::int64_t size = 0;
  std::string folder, hash;
};

struct List {
  std::string dimension;
  std::vector<Listed> plans;
};

/// Throws SchemaError where the text is no such list.
List listFrom(const Json &document) {
  if (size(document, "schema", 1) != lengthsSchema)
    throw SchemaError{"expected schema " + std::to_string(lengthsSchema)};
  List list{get<std::string>(document, "dimension"), {}};
  std::int64_t least = 1;
  for (const Json &plan : get<Json::array_t>(document, "plans")) {
    list.plans.push_back({size(plan, "size", least), get<std::string>(plan, "folder"),
                          get<std::string>(plan, "hash")});
    least = list.plans.back().size + 1;
  }
  if (list.plans.size() < 2 || list.plans.size() > maxLengths)
    throw SchemaError{"expected 2 to " + std::to_string(maxLengths) + " plans"};
  for (std::size_t i = 0; i < list.plans.size(); ++i) {
    const std::string &folder = list.plans[i].folder;
    const bool isOwn = i + 1 == list.plans.size();
    if (isOwn ? folder != "." : folder.empty() || folder.find_first_of("/.") != std::string::npos)
      throw SchemaError{"'" + folder + "' is no folder of a plan in this one"};
  }
  return list;
}

auto decisions(const Plan &plan) {
  return std::tuple(plan.ranks, plan.servers, plan.batch, plan.optimizer, plan.precision, plan.wire,
                    plan.microBatches, plan.clipNorm, plan.loss, plan.backend,
                    plan.sizes.parameters, plan.sizes.gradients);
}

bool isEqual(const PlanBucket &a, const PlanBucket &b) {
  return std::tie(a.id, a.channel, a.members, a.scheme, a.type, a.extent) ==
             std::tie(b.id, b.channel, b.members, b.scheme, b.type, b.extent) &&
         a.allGather.has_value() == b.allGather.has_value();
}

std::vector<std::pair<std::string, Shape>> trainedBy(const Plan &plan) {
  std::vector<std::pair<std::string, Shape>> trained;
  for (const PlanTensor &tensor : plan.tensors)
    if (tensor.kind == PlanTensor::Kind::parameter)
      trained.emplace_back(tensor.name, tensor.shape);
  return trained;
}

Status expectAlike(const Plan &own, const Plan &smaller) {
  const auto differs = [&](const std::string &what) {
    return Status::badInput("'" + smaller.folder + "' and '" + own.folder + "' differ in " + what +
                            ": steps of both cannot train the same parameters");
  };
  if (decisions(own) != decisions(smaller))
    return differs("ranks, batch, loss or what else a run depends on");
  if (trainedBy(own) != trainedBy(smaller))
    return differs("the parameters that are trained");
  if (!std::ranges::equal(own.buckets, smaller.buckets, isEqual))
    return differs("their buckets");
  return Status::ok();
}

} // namespace

Result<PlanLengths> loadLengths(const Plan &own) {
  const std::string path = own.file(std::string(lengthsFile));
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return PlanLengths();
  if (!std::filesystem::is_regular_file(path, error)) // a pipe may never end
    return Status::badInput("'" + path + "': expected a regular file");
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  SYNCLINE_TRY(checkJsonDepth(text.str(), "'" + path + "'", maxPlanLevels));
  const Json document = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  List list;
  try {
    if (!document.is_object())
      throw SchemaError{"not a JSON object"};
    list = listFrom(document);
  } catch (const SchemaError &e) {
    return Status::badInput("'" + path + "': " + e.message);
  }
  if (own.overlapsSteps || own.consistency.isLocal() || own.consistency.isServed())
    return Status::badInput("'" + path +
                            "': steps of several lengths wait for their own gradients");
  PlanLengths lengths;
  lengths.hash = sha256(text.str());
  std::vector<std::int64_t> sizes;
  std::vector<data::SampleFormat> formats;
  for (const Listed &listed : list.plans) {
    const bool isOwn = listed.folder == ".";
    if (!isOwn) {
      SYNCLINE_TRY_GET(plan, loadPlan(own.file(listed.folder)));
      SYNCLINE_TRY(expectAlike(own, *plan));
      lengths.smaller.push_back(std::move(*plan));
    }
    const Plan &plan = isOwn ? own : lengths.smaller.back();
    if (plan.hash != listed.hash)
      return Status::badInput("'" + path + "': the plan '" + plan.folder +
                              "' is another one than it was compiled with: its hash differs");
    sizes.push_back(listed.size);
    formats.push_back(plan.sampleFormat());
  }
  Result<data::Lengths> samples =
      data::Lengths::create(list.dimension, std::move(sizes), std::move(formats));
  if (!samples)
    return Status::badInput("'" + path + "': " + samples.status().message());
  lengths.samples = std::move(*samples);
  return lengths;
}

} // namespace syncline::run
