// Tells a plan's files from those of people.
#include "codegen/folder/Replaceable.h"

#include "codegen/step/Text.h"
#include "syncline/JsonDepth.h"
#include "syncline/PlanFiles.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace syncline::codegen {
namespace {

/// Whether plan.json is one that a version of Syncline wrote, of whatever schema.
bool isPlanDocument(const fs::path &path) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 30; // bytes
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || fs::file_size(path, error) > largest)
    return false;
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  if (!checkJsonDepth(text.str(), "", maxPlanLevels))
    return false;
  const auto document = nlohmann::json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  return document.is_object() && document.contains("schema") && document.contains("planner") &&
         document.contains("hashes") && document["hashes"].is_object() &&
         document["hashes"].contains("plan") && document["hashes"].contains("files");
}

bool isPlans(const fs::directory_entry &entry) {
  std::error_code ignored;
  const fs::file_status status = entry.symlink_status(ignored);
  if (!fs::is_regular_file(status)) // gone: another compile has replaced the folder meanwhile
    return status.type() == fs::file_type::not_found;
  return syncline::isPlanFile(entry.path().filename().string());
}

} // namespace

Status expectReplaceable(const std::string &folder) {
  const auto refuse = [&](const std::string &why) {
    return Status::badInput("'" + folder + "': exists and " + why + "; it is left alone");
  };
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) // where nothing can be, making the folder says why
    return Status::ok();
  if (!fs::is_directory(status))
    return refuse("is not a plan");
  std::string foreign; // the first by name, so that the message is the same each time
  bool isEmpty = true;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    isEmpty = false;
    const std::string name = it->path().filename().string();
    if (!isPlans(*it) && (foreign.empty() || name < foreign))
      foreign = name;
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return refuse("cannot be read: " + error.message());
  if (isEmpty)
    return Status::ok();
  if (!isPlanDocument(fs::path(folder) / "plan.json"))
    return refuse("is not a plan");
  return foreign.empty()
             ? Status::ok()
             : refuse("holds '" + oneLine(foreign) + "', which 'compile' did not write");
}

} // namespace syncline::codegen
