// Making a file without a name, or with a random one, and giving it its own.
#include "runtime/core/PartialFile.h"

#include "runtime/core/Formatted.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace syncline::core {
namespace {

constexpr int attempts = 100;            // to find a free name
constexpr std::size_t longestStem = 200; // longer names leave no room for an ending
constexpr const char *openFiles = "/proc/self/fd";

std::string randomName(const std::string &name) {
  std::random_device random;
  return (name.size() < longestStem ? name : "") + std::string(PartialFile::mark) +
         formatted("-%08x%08x", random(), random());
}

} // namespace

PartialFile::PartialFile(PartialFile &&other) noexcept
    : name(std::move(other.name)), partial(std::exchange(other.partial, "")),
      folder(std::exchange(other.folder, -1)), file(std::exchange(other.file, -1)) {}

PartialFile::~PartialFile() {
  if (file >= 0)
    close(file);
  if (!partial.empty())
    unlinkat(folder, partial.c_str(), 0);
  if (folder >= 0)
    close(folder);
}

int PartialFile::open() {
  // A file without a name gets one by its link in /proc.
  if (access(openFiles, X_OK) == 0)
    file = openat(folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  return file >= 0 ? 0 : openNamed();
}

int PartialFile::openNamed() {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string free = randomName(name);
    file = openat(folder, free.c_str(), flags, 0666);
    if (file >= 0) {
      partial = free;
      return 0;
    }
    if (errno != EEXIST)
      break;
  }
  return errno;
}

/// Gives a file without a name its own, or a random one where its own is taken.
int PartialFile::link() {
  const std::string source = std::string(openFiles) + "/" + std::to_string(file);
  const auto linkAs = [&](const std::string &target) {
    return linkat(AT_FDCWD, source.c_str(), folder, target.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0
                                                                                            : errno;
  };
  int error = linkAs(name);
  for (int attempt = 0; attempt < attempts && error == EEXIST; ++attempt) {
    const std::string free = randomName(name);
    error = linkAs(free);
    if (error == 0)
      partial = free;
  }
  return error;
}

int PartialFile::putInPlace() {
  int error = partial.empty() ? link() : 0;
  if (close(std::exchange(file, -1)) != 0 && error == 0)
    error = errno;
  if (error == 0 && !partial.empty()) {
    error = renameat(folder, partial.c_str(), folder, name.c_str()) == 0 ? 0 : errno;
    if (error == 0)
      partial.clear();
  }
  return error;
}

} // namespace syncline::core
