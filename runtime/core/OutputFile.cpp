// Writing a file that is then put in its place.
#include "syncline/OutputFile.h"

#include "runtime/core/Deadline.h"
#include "runtime/core/PartialFile.h"
#include "syncline/EndOfLinks.h"

#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <fcntl.h>
#include <filesystem>
#include <ostream>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace syncline {
namespace {

constexpr double patience = 10; ///< seconds that a pipe may be without a reader

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

Status expectWritableIn(const std::string &path, const fs::path &folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    return cannotWrite(path, ENOTDIR);
  return access(folder.c_str(), W_OK | X_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
}

/// A file for `target`, which no other process can have put there.
Result<core::PartialFile> createFor(const std::string &target, const std::string &path) {
  const fs::path place(target), parent = place.parent_path();
  const int folder = open(parent.empty() ? "." : parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return cannotWrite(path, errno);
  core::PartialFile file(folder, place.filename());
  const int error = file.open();
  return error == 0 ? Result<core::PartialFile>(std::move(file)) : cannotWrite(path, error);
}

/// Opens a device or a pipe. A pipe that nobody reads would hold open() for ever.
Result<int> openOther(const std::string &path) {
  const core::Deadline end = core::deadlineIn(patience);
  for (;;) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0) {
      fcntl(descriptor, F_SETFL, O_WRONLY);
      return descriptor;
    }
    if (errno != ENXIO)
      return cannotWrite(path, errno);
    if (core::Clock::now() >= end)
      return Status::badInput("'" + path + "': cannot write: nobody reads from it");
    usleep(20'000);
  }
}

/// Writes to the descriptor and closes it.
Status writeTo(int descriptor, const std::string &path,
               const std::function<Status(std::ostream &)> &write) {
  __gnu_cxx::stdio_filebuf<char> buffer(descriptor, std::ios::out | std::ios::binary);
  std::ostream out(&buffer);
  const Status written = write(out);
  if (!written && out)
    return written;
  const bool isClosed = buffer.close() != nullptr;
  return out && isClosed ? Status::ok() : cannotWrite(path, errno);
}

} // namespace

Status expectWritableFile(const std::string &path) {
  SYNCLINE_TRY_GET(place, placeAt(path));
  if (*place == Place::other)
    return access(path.c_str(), W_OK) == 0 ? Status::ok() : cannotWrite(path, errno);
  SYNCLINE_TRY_GET(end, endOfLinks(path));
  const fs::path folder = fs::path(*end).parent_path();
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
  SYNCLINE_TRY_GET(place, placeAt(path));
  if (*place == Place::other) {
    Result<int> other = openOther(path);
    return other ? writeTo(*other, path, write) : other.status();
  }
  SYNCLINE_TRY_GET(target, endOfLinks(path));
  SYNCLINE_TRY_GET(file, createFor(*target, path));
  const int copy = fcntl(file->descriptor(), F_DUPFD_CLOEXEC, 0); // the stream closes it
  if (copy < 0)
    return cannotWrite(path, errno);
  SYNCLINE_TRY(writeTo(copy, path, write));
  const int error = file->putInPlace();
  return error == 0 ? Status::ok() : cannotWrite(path, error);
}

} // namespace syncline
