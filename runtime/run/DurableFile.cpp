// Writing, fsync and rename.
#include "runtime/run/DurableFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

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
  DurableFile file(path, folder);
  const int error = file.open();
  return error == 0 ? Result<DurableFile>(std::move(file)) : cannotWrite(path, error);
}

/// Makes the partial file. Returns 0 or an error number.
int DurableFile::open() {
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    char digits[10];
    std::snprintf(digits, sizeof digits, "-%08x", static_cast<unsigned>(random()));
    partial = name() + std::string(partialMark) + digits;
    descriptor =
        openat(folder, partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      break;
  }
  return descriptor >= 0 ? 0 : errno;
}

DurableFile::DurableFile(DurableFile &&other) noexcept
    : path(std::move(other.path)), partial(std::move(other.partial)),
      folder(std::exchange(other.folder, -1)), descriptor(std::exchange(other.descriptor, -1)) {}

DurableFile::~DurableFile() {
  if (descriptor >= 0) {
    close(descriptor);
    unlinkat(folder, partial.c_str(), 0);
  }
  if (folder >= 0)
    close(folder);
}

Status DurableFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most = 1u << 26; // bytes of one call
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), most));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return cannotWrite(path, written == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return Status::ok();
}

Status DurableFile::commit() {
  int error = fsync(descriptor) == 0 ? 0 : errno;
  if (close(std::exchange(descriptor, -1)) != 0 && error == 0)
    error = errno;
  if (error == 0 && renameat(folder, partial.c_str(), folder, name()) != 0)
    error = errno;
  if (error == 0)
    return Status::ok();
  unlinkat(folder, partial.c_str(), 0);
  return cannotWrite(path, error);
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
