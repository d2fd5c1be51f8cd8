// Reading what plan.json says of messages.
#include "runtime/run/plan/PlanMessages.h"

#include "runtime/core/TextDigest.h"
#include "runtime/run/plan/PlanJson.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanConstants.h"
#include "syncline/PlanFiles.h"
#include "syncline/RowsPart.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/stat.h>

namespace syncline::run {

static Status badPlan(const std::string &path, const std::string &what) {
  return Status::badInput("'" + path + "': " + what);
}

ElementType elementType(const Json &object) {
  auto name = get<std::string>(object, "type");
  for (ElementType t : {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                        ElementType::i64, ElementType::i32, ElementType::u8})
    if (core::elementName(t) == name)
      return t;
  throw SchemaError{"unknown element type '" + name + "'"};
}

/// The type that a bucket's members have in common.
static ElementType memberType(const PlanBucket &bucket, const TensorTypes &tensors) {
  std::set<ElementType> types;
  for (const std::string &member : bucket.members) {
    const auto found = tensors.find(parameterOf(member));
    if (found == tensors.end())
      throw SchemaError{"bucket " + std::to_string(bucket.id) + " has a member '" + member +
                        "', which is no tensor"};
    types.insert(found->second);
  }
  if (types.size() != 1)
    throw SchemaError{"bucket " + std::to_string(bucket.id) + " has " +
                      (types.empty() ? "no members" : "members of different element types")};
  return *types.begin();
}

/// The bytes at both ends of a bucket that other buckets carry.
static std::array<std::int64_t, 2> cutOf(const Json &object) {
  if (!object.contains("cut"))
    return {};
  const auto cut = get<Json::array_t>(object, "cut");
  if (cut.size() != 2)
    throw SchemaError{"'cut': expected 2 numbers, got " + std::to_string(cut.size())};
  std::array<std::int64_t, 2> ends{integer(cut[0], "cut"), integer(cut[1], "cut")};
  constexpr std::int64_t most = std::int64_t{1} << 46;
  if (ends[0] < 0 || ends[0] > most || ends[1] < 0 || ends[1] > most)
    throw SchemaError{"'cut': expected numbers from 0 to 2^46, got " + object.at("cut").dump()};
  return ends;
}

PlanBucket planBucket(const Json &object, const TensorTypes &types) {
  PlanBucket b;
  b.id = count(object, "id", 0);
  b.channel = count(object, "channel", 0);
  b.members = get<std::vector<std::string>>(object, "members");
  const Result<Scheme> scheme = readScheme(get<std::string>(object, "scheme"));
  if (!scheme)
    throw SchemaError{"bucket " + std::to_string(b.id) + ": " + scheme.status().message()};
  b.scheme = *scheme;
  if (!types.empty() && hasRows(b.scheme))
    size(object, "rows", 1);
  b.ready = prediction(object, "ready");
  b.start = prediction(object, "start");
  b.end = prediction(object, "end");
  b.reconstructed = prediction(object, "reconstructed");
  b.traffic = prediction(object, "traffic");
  if (object.contains("all_gather")) {
    const Json &second = object.at("all_gather");
    b.allGather = {prediction(second, "ready"), prediction(second, "start"),
                   prediction(second, "end")};
  }
  if (types.empty())
    return b;
  b.extent = size(object, "extent", 0);
  b.type = memberType(b, types);
  return b;
}

core::WirePrecision planWire(const Json &json) {
  const auto name = get<std::string>(json, "wire");
  const auto wire = parseWire(name);
  if (!wire)
    throw SchemaError{"unknown 'wire' '" + name + "'"};
  return *wire;
}

bool overlapsSteps(const Json &json) {
  const auto overlap = get<std::string>(json, "overlap");
  if (overlap != "backward" && overlap != "step")
    throw SchemaError{"'overlap': expected backward or step, got '" + overlap + "'"};
  return overlap == "step";
}

int planMicroBatches(const Json &json) {
  const int batches = json.contains("accumulate") ? count(json, "accumulate", 1) : 1;
  if (batches > mostMicroBatches)
    throw SchemaError{"'accumulate': expected at most " + std::to_string(mostMicroBatches) +
                      ", got " + std::to_string(batches)};
  return batches;
}

PlanRanks planRanks(const Json &json) {
  PlanRanks read;
  read.ranks = count(json, "ranks", 1);
  if (json.contains("servers"))
    read.servers = count(json, "servers", 0);
  if (json.contains("cluster") && json.at("cluster").contains("devices_per_node"))
    read.perNode = count(json.at("cluster"), "devices_per_node", 1);
  return read;
}

Status checkNodes(int planned, int rank, int local, int own) {
  if (planned > 0 && own != planned)
    return Status::badInput("scheme 'hierarchical' of a plan for " + std::to_string(planned) +
                            " ranks a node: " + std::to_string(own) + " were started");
  if (own < 1 || local != rank % own)
    return Status::badInput("scheme 'hierarchical' needs ranks numbered node by node: rank " +
                            std::to_string(rank) + " is local rank " + std::to_string(local) +
                            " of " + std::to_string(own));
  return Status::ok();
}

Result<Json> readPlanFile(const std::string &folder) {
  std::string path = folder + "/plan.json";
  struct stat info{};
  if (stat(folder.c_str(), &info) != 0)
    return badPlan(folder, std::string("cannot open: ") + std::strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return badPlan(folder, "expected a plan folder");
  const bool isThere = stat(path.c_str(), &info) == 0;
  if (isThere && !S_ISREG(info.st_mode)) // a pipe may never end
    return badPlan(path, "expected a regular file");
  if (isThere && info.st_size > maxPlanBytes)
    return badPlan(path, "expected at most " + std::to_string(maxPlanBytes) + " bytes, got " +
                             std::to_string(info.st_size));
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return badPlan(path, std::string("cannot open: ") + std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  SYNCLINE_TRY(checkJsonDepth(text, "'" + path + "'", maxPlanLevels));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return badPlan(path, text.empty() ? "the file is empty" : "not a JSON object");
  const std::int64_t found = json.contains("schema") && json["schema"].is_number_integer()
                                 ? json["schema"].get<std::int64_t>()
                                 : -1;
  if (found != planSchema)
    return badPlan(path, "expected schema " + std::to_string(planSchema) + ", got " +
                             (found < 0 ? "none" : std::to_string(found)) + compileAgain(folder));
  return json;
}

/// The hash is computed with an empty text in its place.
Result<std::string> checkedHash(const std::string &folder, Json json) {
  member(member(json, "hashes"), "plan");
  const auto hash = get<std::string>(json.at("hashes"), "plan");
  json.at("hashes").at("plan") = "";
  if (core::digestOf(json.dump()) != hash)
    return badPlan(folder + "/plan.json",
                   "the file was changed after it was compiled: its hash differs");
  return hash;
}

/// Whether the members' bytes make up the message's. What is gathered is no sum of theirs.
static void checkMembers(const PlanMessages &plan, const PlanBucket &bucket) {
  if (isGathered(bucket.scheme))
    return;
  std::int64_t sum = -bucket.cut[0] - bucket.cut[1];
  for (const std::string &name : bucket.members) {
    const auto found = std::ranges::find(plan.gradients, name, &PlanGradient::name);
    if (found == plan.gradients.end())
      throw SchemaError{"bucket " + std::to_string(bucket.id) + " has a member '" + name +
                        "', which is none of 'layers'"};
    sum += found->bytes;
  }
  if (sum != bucket.bytes)
    throw SchemaError{"bucket " + std::to_string(bucket.id) + " has members of " +
                      std::to_string(sum) + " bytes, expected " + std::to_string(bucket.bytes)};
}

static PlanMessages messagesFrom(const Json &json) {
  PlanMessages plan;
  plan.name = get<std::string>(json, "name");
  plan.ranks = planRanks(json);
  plan.microBatches = planMicroBatches(json);
  plan.wire = planWire(json);
  plan.overlapsSteps = overlapsSteps(json);
  plan.predictedStep = prediction(member(json, "predicted"), "step");
  plan.consistency = readForm(json);
  plan.cluster = std::make_shared<const Json>(member(json, "cluster"));
  for (const Json &layer : member(json, "layers"))
    plan.gradients.push_back({get<std::string>(layer, "name"), size(layer, "bytes", 0)});
  TensorTypes types;
  for (const Json &tensor : member(json, "tensors"))
    types.emplace(get<std::string>(tensor, "name"), elementType(tensor));
  for (const Json &bucket : member(json, "buckets")) {
    plan.buckets.push_back(planBucket(bucket, types));
    plan.buckets.back().bytes = size(bucket, "bytes", 0);
    plan.buckets.back().cut = cutOf(bucket);
    checkMembers(plan, plan.buckets.back());
  }
  return plan;
}

Result<PlanMessages> loadMessages(const std::string &folder) {
  SYNCLINE_TRY_GET(json, readPlanFile(folder));
  const std::string path = folder + "/plan.json";
  try {
    PlanMessages plan = messagesFrom(*json);
    plan.folder = folder;
    if (member(*json, "hashes").contains("model"))
      plan.modelHash = get<std::string>(json->at("hashes"), "model");
    SYNCLINE_TRY_GET(hash, checkedHash(folder, std::move(*json)));
    plan.hash = std::move(*hash);
    return plan;
  } catch (const SchemaError &e) {
    return badPlan(path, e.message);
  } catch (const Json::exception &e) {
    return badPlan(path, e.what());
  }
}

} // namespace syncline::run
