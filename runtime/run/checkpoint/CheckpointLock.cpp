// Locking a file that its holder removes.
#include "runtime/run/checkpoint/CheckpointLock.h"

#include "runtime/core/Deadline.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace syncline::run {
namespace {

/// Whether the file is still the one by this name: the holder before may have removed it.
bool isNamed(int descriptor, const std::string &path) {
  struct stat opened{}, named{};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

bool isRegular(int descriptor) {
  struct stat info{};
  return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

} // namespace

Result<CheckpointLock> CheckpointLock::take(const std::string &folder, double seconds) {
  const std::string path = folder + "/" + name;
  const core::Deadline deadline = core::deadlineIn(seconds);
  for (;;) {
    const int descriptor =
        open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor < 0)
      return Status::badInput("'" + path + "': cannot open: " +
                              (errno == ELOOP ? "it is a link" : std::strerror(errno)));
    if (!isRegular(descriptor)) {
      close(descriptor);
      return Status::badInput("'" + path + "': cannot open: it is not a regular file");
    }
    const int error = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == 0 && isNamed(descriptor, path))
      return CheckpointLock(path, descriptor, "");
    close(descriptor);
    if (error != 0 && error != EWOULDBLOCK && error != EINTR)
      return CheckpointLock(path, -1, std::strerror(error));
    if (core::Clock::now() >= deadline)
      return Status::badInput("'" + folder +
                              "': another run writes its checkpoints there: expected a folder of "
                              "this run's own");
    std::this_thread::sleep_for(std::chrono::milliseconds(error == 0 ? 0 : 50));
  }
}

CheckpointLock::CheckpointLock(CheckpointLock &&other) noexcept
    : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
      why(std::move(other.why)) {}

void CheckpointLock::release() {
  if (descriptor < 0)
    return;
  unlink(path.c_str());
  close(std::exchange(descriptor, -1));
}

} // namespace syncline::run
