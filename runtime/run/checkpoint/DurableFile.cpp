// Writing and fsync.
#include "runtime/run/checkpoint/DurableFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace syncline::run {

static Status cannotWrite(const std::string &path, int error) {
  return Status::badInput("'" + path + "': cannot write: " + std::strerror(error));
}

Result<DurableFile> DurableFile::create(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return cannotWrite(path, errno);
  core::PartialFile file(folder, path.substr(slash + 1)); // npos + 1 is 0
  const int error = file.open();
  return error == 0 ? Result<DurableFile>(DurableFile(path, std::move(file)))
                    : cannotWrite(path, error);
}

Status DurableFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most = 1u << 26; // bytes of one call
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.descriptor(), bytes.data(), std::min(bytes.size(), most));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return cannotWrite(path, written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Status::ok();
}

Status DurableFile::commit() {
  const int error = fsync(file.descriptor()) == 0 ? file.putInPlace() : errno;
  return error == 0 ? Status::ok() : cannotWrite(path, error);
}

Status syncFolder(const std::string &folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return cannotWrite(folder, errno);
  // Some network file systems have no fsync of folders; a name is durable there once it is made.
  const int error = fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  close(descriptor);
  return error == 0 ? Status::ok() : cannotWrite(folder, error);
}

} // namespace syncline::run
