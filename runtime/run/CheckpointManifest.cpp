// The manifest as JSON, and judging files by it.
#include "runtime/run/CheckpointManifest.h"

#include "runtime/run/Sha256.h"
#include "syncline/JsonDepth.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

namespace syncline::run {
namespace {

using Json = nlohmann::ordered_json;

std::string hashOf(Json json) {
  json["sha256"] = "";
  return sha256(json.dump());
}

} // namespace

std::string checkpointFileName(int rank) { return "rank" + std::to_string(rank) + ".bin"; }

std::string CheckpointManifest::text() const {
  Json json{{"schema", schema},
            {"plan", plan},
            {"plan_hash", planHash},
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
            {"parameters", Json::array()},
            {"files", Json::array()},
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
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return bad(text.empty() ? "is empty" : "is cut off or not JSON");
  try {
    if (json.at("schema").get<int>() != schema)
      return bad("has schema " + json.at("schema").dump() + ", expected " + std::to_string(schema));
    if (json.at("sha256").get<std::string>() != hashOf(json))
      return bad("was changed: its SHA-256 differs");
    CheckpointManifest m;
    const auto take = [&](const char *key, auto &to) { json.at(key).get_to(to); };
    take("plan", m.plan);
    take("plan_hash", m.planHash);
    take("consistency", m.consistency);
    take("layout", m.layout);
    take("ranks", m.ranks);
    take("batch", m.batch);
    take("step", m.step);
    take("epoch", m.epoch);
    take("batch_in_epoch", m.batchInEpoch);
    take("samples", m.samples);
    take("options", m.options);
    m.lossSum = std::bit_cast<double>(json.at("loss_sum_bits").get<std::uint64_t>());
    take("losses", m.losses);
    take("loss_scale", m.lossScale.value);
    take("good_steps", m.lossScale.good);
    take("skipped_steps", m.lossScale.skipped);
    for (const Json &p : json.at("parameters"))
      m.parameters[p.at("name")] = {p.at("shape"), p.at("layout")};
    for (const Json &file : json.at("files"))
      m.files.push_back({file.at("bytes").get<std::int64_t>(), file.at("sha256")});
    if (m.ranks < 1 || m.files.size() != static_cast<std::size_t>(m.ranks))
      return bad("lists " + std::to_string(m.files.size()) + " files for " +
                 std::to_string(m.ranks) + " ranks");
    return m;
  } catch (const Json::exception &) {
    return bad("is not a manifest");
  }
}

std::string CheckpointManifest::whyBad(const std::string &path, const CheckpointDigest &digest) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? "is missing" : std::string("cannot be read: ") + std::strerror(errno);
  const std::string sizes =
      std::to_string(info.st_size) + " bytes, expected " + std::to_string(digest.bytes);
  if (info.st_size < digest.bytes)
    return "is cut off: " + sizes;
  if (info.st_size > digest.bytes)
    return "is too long: " + sizes;
  const Result<std::string> found = sha256OfFile(path);
  if (!found)
    return "cannot be read: " + found.status().message();
  return *found == digest.sha256 ? "" : "was changed: its SHA-256 differs";
}

} // namespace syncline::run
