// Reads a profile from JSON and checks it key by key; catches nlohmann_json's exceptions.
#include "frontend/files/Profile.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "syncline/Suggestion.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <vector>

namespace syncline::files {
namespace {

using Json = nlohmann::json;

constexpr std::size_t maxProfileBytes = 64u << 20;
constexpr std::size_t maxDepth = 8;
constexpr std::int64_t schema = 1;
constexpr double updateUnit = 1e9; ///< bytes for which an update's time is written
constexpr std::int64_t maxBatch = std::int64_t{1} << 31, maxThreads = 1 << 16;
constexpr std::size_t maxScatter = 65536; ///< factors in all
constexpr double maxProfileFactor = 1000;
constexpr std::array<std::string_view, 9> knownKeys = {"schema",    "name",    "batch",
                                                       "precision", "threads", "update",
                                                       "overhead",  "scatter", "operations"};
constexpr std::array<std::string_view, 3> precisions = {"fp32", "tf32", "bf16"};
constexpr std::array<std::string_view, 3> timeKeys = {"forward", "backward", "spread"};

Status error(std::string_view fileName, const std::string &path, const std::string &message) {
  return Status::badInput(std::string(fileName) + ": " + (path.empty() ? "" : "'" + path + "': ") +
                          message);
}

/// Parses strictly: nlohmann keeps the last of two equal keys and nests without limit, so a
/// callback watches for both.
Result<Json> parseStrictly(std::string_view text, std::string_view fileName) {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  bool tooDeep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    if (static_cast<std::size_t>(depth) > maxDepth)
      return !(tooDeep = true);
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(value.get<std::string>()).second && repeated.empty())
      repeated = value.get<std::string>();
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    if (tooDeep)
      return error(fileName, "", "expected at most " + std::to_string(maxDepth) + " levels");
    if (!repeated.empty())
      return error(fileName, "", "key '" + repeated.substr(0, 60) + "' is given twice");
    return json;
  } catch (const Json::exception &failure) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without its number.
    std::string what = failure.what();
    if (const std::size_t end = what.find("] "); end != std::string::npos)
      what.erase(0, end + 2);
    return error(fileName, "", "not valid JSON: " + what);
  }
}

Status checkKeys(const Json &map, std::span<const std::string_view> known,
                 std::string_view fileName, const std::string &path) {
  if (!map.is_object())
    return error(fileName, path,
                 "expected an object with the keys " + quotedList(known) + ", got " +
                     std::string(map.type_name()));
  for (const auto &[key, value] : map.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return error(fileName, path,
                   "unknown key '" + key.substr(0, 60) + "'" + suggestion(key, known));
  return Status::ok();
}

Result<double> readTime(const Json &value, std::string_view fileName, const std::string &path) {
  if (!value.is_string())
    return error(fileName, path,
                 "expected a time with a unit such as \"1.5ms\", got " +
                     value.dump().substr(0, 60));
  Result<double> time = parseSeconds(value.get_ref<const std::string &>());
  return time ? time : error(fileName, path, time.status().message());
}

Result<OperationTimes> readTimes(const Json &value, std::string_view fileName,
                                 const std::string &path) {
  SYNCLINE_TRY(checkKeys(value, timeKeys, fileName, path));
  if (!value.contains("forward"))
    return error(fileName, path, "expected the key 'forward', got none");
  OperationTimes times;
  SYNCLINE_TRY_GET(forward, readTime(value["forward"], fileName, path + ".forward"));
  times.forward = *forward;
  for (auto [key, time] : {std::pair("backward", &times.backward), {"spread", &times.spread}}) {
    if (!value.contains(key))
      continue;
    SYNCLINE_TRY_GET(read, readTime(value[key], fileName, path + "." + key));
    *time = *read;
  }
  return times;
}

Result<double> readUpdate(const Json &value, std::string_view fileName) {
  if (!value.is_string())
    return error(fileName, "update",
                 "expected a time per byte such as \"1.2 ns/B\", got " +
                     value.dump().substr(0, 60));
  Result<double> update = parseSecondsPerByte(value.get_ref<const std::string &>());
  return update ? update : error(fileName, "update", update.status().message());
}

/// Reads one rank's steps.
Result<std::vector<double>> readFactors(const Json &value, std::string_view fileName,
                                        const std::string &path) {
  if (!value.is_array() || value.empty())
    return error(fileName, path,
                 "expected a list of factors, one for each step, got " +
                     value.dump().substr(0, 60));
  std::vector<double> factors;
  for (const Json &factor : value) {
    if (!factor.is_number() ||
        !(factor.get<double>() > 0 && factor.get<double>() <= maxProfileFactor))
      return error(fileName, path,
                   "expected factors above 0 and up to 1000, got " + factor.dump().substr(0, 60));
    factors.push_back(factor.get<double>());
  }
  return factors;
}

Status readScatter(const Json &value, std::string_view fileName, Profile &profile) {
  if (!value.is_array() || value.empty())
    return error(fileName, "scatter",
                 "expected a list with a list of factors for each rank, got " +
                     value.dump().substr(0, 60));
  for (const Json &rank : value) {
    const std::string path = "scatter[" + std::to_string(profile.scatter.size()) + "]";
    SYNCLINE_TRY_GET(factors, readFactors(rank, fileName, path));
    profile.scatter.push_back(std::move(*factors));
    const std::size_t expected = profile.scatter.front().size(),
                      got = profile.scatter.back().size();
    if (got != expected)
      return error(fileName, path,
                   "expected " + std::to_string(expected) + " factors as of rank 0, got " +
                       std::to_string(got));
    if (expected * value.size() > maxScatter)
      return error(fileName, "scatter",
                   "expected at most " + std::to_string(maxScatter) + " factors, got " +
                       std::to_string(expected * value.size()));
  }
  return Status::ok();
}

/// Reads all keys but the operations.
Status readHead(const Json &json, std::string_view fileName, Profile &profile) {
  if (!json.contains("schema") || json["schema"] != Json(schema))
    return error(fileName, "schema",
                 "expected " + std::to_string(schema) + ", got " +
                     (json.contains("schema") ? json["schema"].dump().substr(0, 60) : "nothing"));
  if (json.contains("name")) {
    if (!json["name"].is_string())
      return error(fileName, "name",
                   "expected a string, got " + std::string(json["name"].type_name()));
    profile.name = json["name"].get<std::string>();
  }
  if (json.contains("batch")) {
    Result<std::int64_t> batch = parseCount(json["batch"].dump(), "samples per rank", maxBatch);
    if (!batch)
      return error(fileName, "batch", batch.status().message());
    profile.batch = *batch;
  }
  if (json.contains("precision")) {
    const Json &precision = json["precision"];
    if (!precision.is_string() ||
        std::ranges::find(precisions, precision.get_ref<const std::string &>()) == precisions.end())
      return error(fileName, "precision",
                   "expected " + quotedList(precisions) + ", got " +
                       precision.dump().substr(0, 60));
    profile.precision = precision.get<std::string>();
  }
  if (json.contains("threads")) {
    Result<std::int64_t> threads =
        parseCount(json["threads"].dump(), "threads per rank", maxThreads);
    if (!threads)
      return error(fileName, "threads", threads.status().message());
    profile.threads = *threads;
  }
  if (json.contains("update")) {
    SYNCLINE_TRY_GET(update, readUpdate(json["update"], fileName));
    profile.update = *update;
  }
  if (json.contains("overhead")) {
    SYNCLINE_TRY_GET(overhead, readTime(json["overhead"], fileName, "overhead"));
    profile.overhead = *overhead;
  }
  if (json.contains("scatter"))
    return readScatter(json["scatter"], fileName, profile);
  return Status::ok();
}

} // namespace

Result<Profile> parseProfile(std::string_view text, std::string_view fileName) {
  SYNCLINE_TRY_GET(checked, checkText(text, fileName));
  if (checked->find_first_not_of(" \t\r\n") == std::string_view::npos)
    return error(fileName, "", "expected a profile, got an empty file");
  SYNCLINE_TRY_GET(json, parseStrictly(*checked, fileName));
  SYNCLINE_TRY(checkKeys(*json, knownKeys, fileName, ""));
  Profile profile;
  SYNCLINE_TRY(readHead(*json, fileName, profile));
  if (!json->contains("operations") || !(*json)["operations"].is_object())
    return error(fileName, "operations", "expected an object of times by operation");
  for (const auto &[name, value] : (*json)["operations"].items()) {
    SYNCLINE_TRY_GET(times, readTimes(value, fileName, "operations." + name));
    profile.operations.emplace(name, *times);
  }
  return profile;
}

Result<Profile> readProfile(const std::string &path) {
  Result<std::string> text = readTextFile(path, maxProfileBytes);
  return text ? parseProfile(*text, path) : Result<Profile>(text.status());
}

std::string formatProfile(const Profile &profile) {
  using OrderedJson = nlohmann::ordered_json;
  constexpr int digits = 6;
  OrderedJson json{{"schema", schema}};
  if (!profile.name.empty())
    json["name"] = profile.name;
  if (profile.batch)
    json["batch"] = *profile.batch;
  if (!profile.precision.empty())
    json["precision"] = profile.precision;
  if (profile.threads)
    json["threads"] = *profile.threads;
  if (profile.update)
    json["update"] = formatSeconds(*profile.update * updateUnit, digits) + "/GB";
  if (profile.overhead)
    json["overhead"] = formatSeconds(*profile.overhead, digits);
  if (!profile.scatter.empty())
    json["scatter"] = profile.scatter;
  OrderedJson &operations = json["operations"] = OrderedJson::object();
  for (const auto &[name, times] : profile.operations) {
    OrderedJson &entry = operations[name];
    entry["forward"] = formatSeconds(times.forward, digits);
    if (times.backward)
      entry["backward"] = formatSeconds(*times.backward, digits);
    if (times.spread)
      entry["spread"] = formatSeconds(*times.spread, digits);
  }
  return json.dump(2) + "\n";
}

} // namespace syncline::files
