// Writing to a temporary file beside the target and renaming it.
#include "syncline/OutputFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline {
namespace {

Status cannotWrite(const std::string &path, int error) {
  return Status::badInput("'" + path + "': cannot write: " + std::strerror(error));
}

enum class Place { nothing, file, other }; ///< `other` is a pipe, a device or the like

/// The kind of thing at the end of `path` and its links. Errors: a folder, or links that
/// form a cycle.
Result<Place> placeAt(const std::string &path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    return errno == ENOENT ? Result<Place>(Place::nothing) : cannotWrite(path, errno);
  if (S_ISDIR(info.st_mode))
    return cannotWrite(path, EISDIR);
  return S_ISREG(info.st_mode) ? Place::file : Place::other;
}

/// The path at which the links end, even if nothing is there yet. Precondition: the links form
/// no cycle.
fs::path endOfLinks(fs::path path) {
  std::error_code error;
  while (fs::is_symlink(path, error)) {
    const fs::path next = fs::read_symlink(path, error);
    if (error)
      break;
    path = path.parent_path() / next; // an absolute `next` replaces the whole path
  }
  return path;
}

Status expectWritableIn(const std::string &path, const fs::path &folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    return cannotWrite(path, ENOTDIR);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
}

/// Writes to the file `name`; error messages call it `path`.
Status writeTo(const std::string &name, const std::string &path,
               const std::function<Status(std::ostream &)> &write) {
  std::ofstream out(name, std::ios::binary | std::ios::trunc);
  if (!out)
    return cannotWrite(path, errno);
  const Status written = write(out);
  if (!written && out)
    return written;
  out.close();
  return out ? Status::ok() : cannotWrite(path, errno);
}

} // namespace

Status expectWritableFile(const std::string &path) {
  Result<Place> place = placeAt(path);
  if (!place)
    return place.status();
  if (*place == Place::other)
    return access(path.c_str(), W_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
  const fs::path folder = endOfLinks(path).parent_path();
  return expectWritableIn(path, folder.empty() ? "." : folder);
}

Status expectWritableFolder(const std::string &path) {
  std::error_code ignored;
  fs::path folder = fs::path(path);
  while (!folder.empty() && !fs::exists(folder, ignored))
    folder = folder.parent_path();
  return expectWritableIn(path, folder.empty() ? "." : folder);
}

Status writeWholeFile(const std::string &path, std::string_view bytes) {
  return writeWholeFile(path, [&](std::ostream &out) {
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return Status::ok();
  });
}

Status writeWholeFile(const std::string &path, const std::function<Status(std::ostream &)> &write) {
  Result<Place> place = placeAt(path);
  if (!place)
    return place.status();
  if (*place == Place::other)
    return writeTo(path, path, write);
  const std::string target = endOfLinks(path), partial = target + ".partial";
  Status written = writeTo(partial, path, write);
  if (written && std::rename(partial.c_str(), target.c_str()) != 0)
    written = cannotWrite(path, errno);
  std::error_code ignored;
  if (!written)
    fs::remove(partial, ignored);
  return written;
}

} // namespace syncline
