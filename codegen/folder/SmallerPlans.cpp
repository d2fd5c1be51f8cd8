// Reads lengths.json.
#include "codegen/folder/SmallerPlans.h"

#include "codegen/folder/PlanFolder.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanFiles.h"

#include "llvm/Support/MemoryBuffer.h"

#include <nlohmann/json.hpp>

#include <filesystem>
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

Result<SizedFolders> readSmaller(const std::string &folder) {
  const std::string path = folder + "/" + std::string(lengthsFile);
  if (std::error_code ignored; !std::filesystem::exists(path, ignored))
    return SizedFolders();
  else if (!std::filesystem::is_regular_file(path, ignored)) // a pipe may never end
    return Status::badInput("'" + path + "': expected a regular file");
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Status::badInput("'" + path + "': cannot open: " + buffer.getError().message());
  const std::string text = (*buffer)->getBuffer().str();
  SYNCLINE_TRY(checkJsonDepth(text, "'" + path + "'", maxPlanLevels));
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto folders =
      document.is_object() ? parse(folder, document) : std::optional<SizedFolders>();
  if (!folders)
    return Status::badInput("'" + path + "': not the list of plans that 'compile' writes");
  for (std::size_t i = 0; i < document["plans"].size(); ++i) {
    const std::string &plan = i < folders->smaller.size() ? folders->smaller[i].folder : folder;
    SYNCLINE_TRY_GET(own, readPlanJson(plan));
    if (document["plans"][i].value("hash", Json()) != (*own)["hashes"]["plan"])
      return Status::badInput("'" + path + "': the plan '" + plan +
                              "' is another one than it was compiled with: its hash differs");
  }
  return *folders;
}

} // namespace syncline::codegen
