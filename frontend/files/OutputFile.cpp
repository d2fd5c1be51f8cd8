// Beside the place, then into it.
#include "frontend/files/OutputFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline::files {

static Status cannotWrite(const std::string &path, int error) {
  return Status::badInput("'" + path + "': cannot write: " + std::strerror(error));
}

Status expectWritableFile(const std::string &path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return cannotWrite(path, EISDIR);
  const fs::path parent = fs::path(path).parent_path(), folder = parent.empty() ? "." : parent;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    return cannotWrite(path, ENOTDIR);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
}

Status writeTextFile(const std::string &path, const std::string &text) {
  const std::string partial = path + ".partial";
  std::ofstream out(partial, std::ios::binary | std::ios::trunc);
  if (!out)
    return cannotWrite(path, errno);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (out && std::rename(partial.c_str(), path.c_str()) == 0)
    return Status::ok();
  const int error = errno;
  std::error_code ignored;
  fs::remove(partial, ignored);
  return cannotWrite(path, error);
}

} // namespace syncline::files
