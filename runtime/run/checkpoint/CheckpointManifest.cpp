// The manifest as JSON, and judging files by it.
#include "runtime/run/checkpoint/CheckpointManifest.h"

#include "runtime/run/checkpoint/Sha256.h"
#include "runtime/run/plan/PlanJson.h"
#include "syncline/JsonDepth.h"

#include <bit>
#include <cerrno>
#include <cmath>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string hashOf(OrderedJson json) {
  json["sha256"] = "";
  return sha256(json.dump());
}

double positive(const Json &object, const char *key) {
  const auto value = get<double>(object, key);
  if (!std::isfinite(value) || value <= 0)
    throw SchemaError{"'" + std::string(key) + "': " + std::to_string(value) + " is out of range"};
  return value;
}

/// Throws SchemaError or Json::exception.
CheckpointManifest manifestFrom(const Json &json) {
  CheckpointManifest m;
  m.plan = get<std::string>(json, "plan");
  m.planHash = get<std::string>(json, "plan_hash");
  if (json.contains("model_hash"))
    m.modelHash = get<std::string>(json, "model_hash");
  m.consistency = get<std::string>(json, "consistency");
  m.layout = get<std::string>(json, "layout");
  m.ranks = count(json, "ranks", 1);
  m.batch = size(json, "batch", 1);
  m.step = size(json, "step", 0);
  m.epoch = size(json, "epoch", 0, m.step);
  m.batchInEpoch = size(json, "batch_in_epoch", 0, m.step);
  m.samples = size(json, "samples", 0);
  m.options = get<std::string>(json, "options");
  m.lossSum = std::bit_cast<double>(get<std::uint64_t>(json, "loss_sum_bits"));
  m.losses = size(json, "losses", 0, m.step);
  m.lossScale.value = positive(json, "loss_scale");
  m.lossScale.good = size(json, "good_steps", 0, m.step);
  m.lossScale.skipped = size(json, "skipped_steps", 0, m.step);
  for (const Json &p : member(json, "parameters"))
    if (!m.parameters
             .try_emplace(get<std::string>(p, "name"),
                          CheckpointManifest::Parameter{get<std::string>(p, "shape"),
                                                        get<std::string>(p, "layout")})
             .second)
      throw SchemaError{"parameter '" + get<std::string>(p, "name") + "' is there twice"};
  for (const Json &file : member(json, "files"))
    m.files.push_back({size(file, "bytes", 0), get<std::string>(file, "sha256")});
  return m;
}

} // namespace

std::string checkpointFileName(int rank) { return "rank" + std::to_string(rank) + ".bin"; }

std::string CheckpointManifest::text() const {
  OrderedJson json{{"schema", schema},
                   {"plan", plan},
                   {"plan_hash", planHash},
                   {"model_hash", modelHash},
                   {"consistency", consistency},
                   {"layout", layout},
                   {"ranks", ranks},
                   {"batch", batch},
                   {"step", step},
                   {"epoch", epoch},
                   {"batch_in_epoch", batchInEpoch},
                   {"samples", samples},
                   {"options", options},
                   // The bits, because JSON has neither NaN nor infinity.
                   {"loss_sum_bits", std::bit_cast<std::uint64_t>(lossSum)},
                   {"losses", losses},
                   {"loss_scale", lossScale.value},
                   {"good_steps", lossScale.good},
                   {"skipped_steps", lossScale.skipped},
                   {"parameters", OrderedJson::array()},
                   {"files", OrderedJson::array()},
                   {"sha256", ""}};
  for (const auto &[tensor, p] : parameters)
    json["parameters"].push_back({{"name", tensor}, {"shape", p.shape}, {"layout", p.layout}});
  for (std::size_t rank = 0; rank < files.size(); ++rank)
    json["files"].push_back({{"name", checkpointFileName(static_cast<int>(rank))},
                             {"bytes", files[rank].bytes},
                             {"sha256", files[rank].sha256}});
  json["sha256"] = hashOf(json);
  return json.dump(2) + "\n";
}

Result<CheckpointManifest> CheckpointManifest::parse(std::string_view text) {
  const auto bad = [](const std::string &what) { return Status::badInput("its manifest " + what); };
  if (!checkJsonDepth(text, name, 8))
    return bad("is not a manifest");
  const OrderedJson json = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return bad(text.empty() ? "is empty" : "is cut off or not JSON");
  try {
    if (json.at("schema").get<int>() != schema)
      return bad("has schema " + json.at("schema").dump() + ", expected " + std::to_string(schema));
    if (json.at("sha256").get<std::string>() != hashOf(json))
      return bad("was changed: its SHA-256 differs");
    CheckpointManifest m = manifestFrom(json);
    if (m.ranks < 1 || m.files.size() != static_cast<std::size_t>(m.ranks))
      return bad("lists " + std::to_string(m.files.size()) + " files for " +
                 std::to_string(m.ranks) + " ranks");
    return m;
  } catch (const SchemaError &e) {
    return bad("is no good: " + e.message);
  } catch (const nlohmann::json::exception &) {
    return bad("is not a manifest");
  }
}

std::string CheckpointManifest::whyBad(const std::string &path, const CheckpointDigest &digest) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0 && errno == ENOENT)
    return "is missing";
  const Result<data::InputFile> file = data::InputFile::open(path, data::Links::refused);
  if (!file)
    return "cannot be read: " + file.status().message();
  const std::string sizes =
      std::to_string(file->size()) + " bytes, expected " + std::to_string(digest.bytes);
  if (file->size() < digest.bytes)
    return "is cut off: " + sizes;
  if (file->size() > digest.bytes)
    return "is too long: " + sizes;
  const Result<std::string> found = sha256OfFile(*file);
  if (!found)
    return "cannot be read: " + found.status().message();
  return *found == digest.sha256 ? "" : "was changed: its SHA-256 differs";
}

} // namespace syncline::run
