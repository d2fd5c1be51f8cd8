// Asks the system, without writing.
#include "runtime/run/OutputPath.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline {

static Status cannotWrite(const std::string &path, int error) {
  return Status::badInput("'" + path + "': cannot write: " + std::strerror(error));
}

static Status expectWritableHere(const std::string &path, const fs::path &folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    return cannotWrite(path, ENOTDIR);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
}

Status expectWritableFile(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return cannotWrite(path, EISDIR);
  const fs::path folder = fs::path(path).parent_path();
  return expectWritableHere(path, folder.empty() ? "." : folder);
}

Status expectWritableFolder(const std::string &path) {
  std::error_code ignored;
  fs::path folder = fs::path(path);
  while (!folder.empty() && !fs::exists(folder, ignored))
    folder = folder.parent_path();
  return expectWritableHere(path, folder.empty() ? "." : folder);
}

} // namespace syncline
