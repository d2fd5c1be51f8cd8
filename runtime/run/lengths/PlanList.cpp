// Reading a list of plans, and comparing them.
#include "runtime/run/lengths/PlanList.h"

#include "runtime/run/checkpoint/Sha256.h"
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

/// Takes dimension and plans from the document. Throws SchemaError where it is no such list.
void fill(PlanList &list) {
  const Json &document = list.document;
  if (!document.is_object())
    throw SchemaError{"not a JSON object"};
  if (size(document, "schema", 1) != lengthsSchema)
    throw SchemaError{"expected schema " + std::to_string(lengthsSchema)};
  list.dimension = get<std::string>(document, "dimension");
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
}

auto decisions(const Plan &plan) {
  return std::tuple(plan.ranks, plan.servers, plan.optimizer, plan.precision, plan.wire,
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

} // namespace

Status expectAlike(const Plan &own, const Plan &smaller, bool unequal) {
  const auto differs = [&](const std::string &what) {
    return Status::badInput("'" + smaller.folder + "' and '" + own.folder + "' differ in " + what +
                            ": steps of both cannot train the same parameters");
  };
  if (decisions(own) != decisions(smaller) || (!unequal && own.batch != smaller.batch))
    return differs("ranks, batch, loss or what else a run depends on");
  if (trainedBy(own) != trainedBy(smaller))
    return differs("the parameters that are trained");
  if (!std::ranges::equal(own.buckets, smaller.buckets, isEqual))
    return differs("their buckets");
  return Status::ok();
}

Result<std::optional<PlanList>> readPlanList(const Plan &own, std::string_view name) {
  PlanList list{.path = own.file(std::string(name))};
  std::error_code error;
  if (!std::filesystem::exists(list.path, error))
    return std::optional<PlanList>();
  if (!std::filesystem::is_regular_file(list.path, error)) // a pipe may never end
    return Status::badInput("'" + list.path + "': expected a regular file");
  std::ostringstream text;
  text << std::ifstream(list.path, std::ios::binary).rdbuf();
  SYNCLINE_TRY(checkJsonDepth(text.str(), "'" + list.path + "'", maxPlanLevels));
  list.document = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  list.hash = sha256(text.str());
  try {
    fill(list);
  } catch (const SchemaError &e) {
    return Status::badInput("'" + list.path + "': " + e.message);
  }
  return std::optional<PlanList>(std::move(list));
}

Status expectListed(const Plan &plan, const PlanList &list, const ListedPlan &listed) {
  return plan.hash == listed.hash
             ? Status::ok()
             : Status::badInput("'" + list.path + "': the plan '" + plan.folder +
                                "' is another one than it was compiled with: its hash differs");
}

} // namespace syncline::run
