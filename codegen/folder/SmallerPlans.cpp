// Reads lengths.json and batches.json.
#include "codegen/folder/SmallerPlans.h"

#include "codegen/folder/PlanFolder.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanConstants.h"
#include "syncline/PlanFiles.h"

#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

using Json = nlohmann::json;

namespace syncline::codegen {

/// The folders that the text lists; nothing where it is not of the file's form.
static std::optional<SizedFolders> parse(const std::string &folder, const Json &document) {
  const Json plans = document.value("plans", Json());
  const Json dimension = document.value("dimension", Json());
  if (document.value("schema", Json()) != lengthsSchema || !dimension.is_string() ||
      !plans.is_array() || plans.size() < 2 || plans.size() > maxLengths)
    return std::nullopt;
  SizedFolders folders;
  folders.dimension = dimension;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Json size = plans[i].is_object() ? plans[i].value("size", Json()) : Json();
    if (!size.is_number_integer() || size <= folders.largest)
      return std::nullopt;
    folders.largest = size;
    const bool isLast = i + 1 == plans.size();
    const std::string name = isLast ? "." : smallerFolder(folders.dimension, folders.largest);
    if (plans[i].value("folder", Json()) != name)
      return std::nullopt;
    if (!isLast)
      folders.smaller.push_back({folder + "/" + name, folders.largest});
  }
  return folders;
}

Json batchesJson(const RankBatches &batches) {
  Json groups = Json::array(); // of successive ranks
  for (std::size_t rank = 0; rank < batches.ofRanks.size(); ++rank) {
    const std::int64_t batch = batches.ofRanks[rank];
    const double slowdown = batches.slowdowns[rank];
    if (groups.empty() || groups.back()["batch"] != batch || groups.back()["slowdown"] != slowdown)
      groups.push_back({{"count", 0}, {"batch", batch}, {"slowdown", slowdown}});
    groups.back()["count"] = groups.back()["count"].get<std::int64_t>() + 1;
  }
  return {{"ranks", std::move(groups)},
          {"compute", {{"fixed", batches.fixed}, {"sample", batches.perSample}}},
          {"equal", {{"batch", batches.equal}, {"step", batches.equalStep}}}};
}

/// A number above `least` that is finite, or nothing.
static std::optional<double> numberAbove(double least, const Json &object, const char *key) {
  const Json value = object.is_object() ? object.value(key, Json()) : Json();
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= least)
    return std::nullopt;
  return value.get<double>();
}

/// A whole number from 1 to `most`, or nothing.
static std::optional<std::int64_t> countIn(const Json &object, const char *key, std::int64_t most) {
  const Json value = object.is_object() ? object.value(key, Json()) : Json();
  if (!value.is_number_integer() || value < 1 || value > most)
    return std::nullopt;
  return value.get<std::int64_t>();
}

/// What the document says beside its list; nothing where it is not of the file's form.
static std::optional<RankBatches> parseBatches(const Json &document) {
  constexpr std::int64_t mostSamples = std::int64_t{1} << 40;
  RankBatches batches;
  const Json ranks = document.value("ranks", Json());
  for (const Json &group : ranks.is_array() ? ranks : Json::array()) {
    const auto left = maxRanks - static_cast<std::int64_t>(batches.ofRanks.size());
    const auto count = countIn(group, "count", left), batch = countIn(group, "batch", mostSamples);
    const auto slowdown = numberAbove(0, group, "slowdown");
    if (!count || !batch || !slowdown)
      return std::nullopt;
    batches.ofRanks.insert(batches.ofRanks.end(), static_cast<std::size_t>(*count), *batch);
    batches.slowdowns.insert(batches.slowdowns.end(), static_cast<std::size_t>(*count), *slowdown);
  }
  const Json compute = document.value("compute", Json()), equal = document.value("equal", Json());
  const auto fixed = numberAbove(-std::numeric_limits<double>::min(), compute, "fixed"),
             sample = numberAbove(0, compute, "sample"),
             step = numberAbove(-std::numeric_limits<double>::min(), equal, "step");
  const auto batch = countIn(equal, "batch", mostSamples);
  if (batches.ofRanks.empty() || !fixed || !sample || !step || !batch)
    return std::nullopt;
  batches.fixed = *fixed;
  batches.perSample = *sample;
  batches.equalStep = *step;
  batches.equal = *batch;
  return batches;
}

/// Compares the list with the plans that it means.
static Status expectListed(const std::string &path, const std::string &folder,
                           const SizedFolders &folders, const Json &document) {
  for (std::size_t i = 0; i < document["plans"].size(); ++i) {
    const std::string &plan = i < folders.smaller.size() ? folders.smaller[i].folder : folder;
    SYNCLINE_TRY_GET(own, readPlanJson(plan));
    if (document["plans"][i].value("hash", Json()) != (*own)["hashes"]["plan"])
      return Status::badInput("'" + path + "': the plan '" + plan +
                              "' is another one than it was compiled with: its hash differs");
    const auto ranks = folders.batches ? std::ssize(folders.batches->ofRanks) : 0;
    if (folders.batches && own->value("ranks", Json()) != ranks)
      return Status::badInput("'" + path + "': expected the ranks of '" + plan + "', got " +
                              std::to_string(ranks));
  }
  return Status::ok();
}

/// Reads the list `name` of the folder; nothing where there is none.
static Result<std::optional<SizedFolders>> readList(const std::string &folder,
                                                    std::string_view name) {
  const std::string path = folder + "/" + std::string(name);
  if (std::error_code ignored; !std::filesystem::exists(path, ignored))
    return std::optional<SizedFolders>();
  else if (!std::filesystem::is_regular_file(path, ignored)) // a pipe may never end
    return Status::badInput("'" + path + "': expected a regular file");
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Status::badInput("'" + path + "': cannot open: " + buffer.getError().message());
  const std::string text = (*buffer)->getBuffer().str();
  SYNCLINE_TRY(checkJsonDepth(text, "'" + path + "'", maxPlanLevels));
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  auto folders = document.is_object() ? parse(folder, document) : std::optional<SizedFolders>();
  const bool isOfRanks = name == batchesFile;
  if (folders && isOfRanks)
    folders->batches = parseBatches(document);
  if (!folders || (isOfRanks && !folders->batches))
    return Status::badInput("'" + path + "': not the list of plans that 'compile' writes");
  SYNCLINE_TRY(expectListed(path, folder, *folders, document));
  return folders;
}

Result<SizedFolders> readSmaller(const std::string &folder) {
  for (const std::string_view name : {lengthsFile, batchesFile}) {
    SYNCLINE_TRY_GET(read, readList(folder, name));
    if (*read)
      return **std::move(read);
  }
  return SizedFolders();
}

} // namespace syncline::codegen
