// Opening regular files, and reading them by pread().
#include "runtime/data/InputFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace syncline::data {

struct InputFile::Descriptor {
  int number = -1;
  std::int64_t size = 0;
  Identity identity = {};
  Descriptor() = default;
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
};

static std::int64_t nanoseconds(const timespec &time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

Result<std::shared_ptr<const InputFile::Descriptor>>
InputFile::openDescriptor(const std::string &path, Links links) {
  const auto cannot = [&](const std::string &why) {
    return Status::badInput("'" + path + "': cannot open: " + why);
  };
  const bool follows = links == Links::followed;
  // Asked before it is opened, because opening a device may have effects.
  struct stat info{};
  if ((follows ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info)) != 0)
    return cannot(std::strerror(errno));
  if (S_ISLNK(info.st_mode))
    return cannot("it is a link");
  if (!S_ISREG(info.st_mode))
    return cannot("it is not a regular file");
  auto opened = std::make_shared<Descriptor>();
  // O_NONBLOCK: a pipe that has come to the file's place must not block.
  opened->number =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follows ? 0 : O_NOFOLLOW));
  if (opened->number < 0 || ::fstat(opened->number, &info) != 0)
    return cannot(std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return cannot("it is not a regular file");
  opened->size = info.st_size;
  opened->identity = {info.st_ino, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)};
  return std::shared_ptr<const Descriptor>(std::move(opened));
}

Result<InputFile> InputFile::open(const std::string &path, Links links) {
  SYNCLINE_TRY_GET(opened, openDescriptor(path, links));
  InputFile file;
  file.name = path;
  file.links = links;
  file.bytes = (*opened)->size;
  file.identity = (*opened)->identity;
  file.descriptor = std::move(*opened);
  return file;
}

Status InputFile::read(std::int64_t offset, std::span<std::byte> to) const {
  std::shared_ptr<const Descriptor> from = descriptor;
  if (!from) {
    SYNCLINE_TRY_GET(opened, openDescriptor(name, links));
    from = std::move(*opened);
    if (from->size != bytes)
      return Status::badInput("'" + name + "': the file changed while it was read: expected " +
                              std::to_string(bytes) + " bytes, got " + std::to_string(from->size));
    // Some file systems number a file anew when it is opened again: then only its times count.
    const Identity &now = from->identity;
    if (now.changed != identity.changed ||
        (now.number != identity.number && now.linked != identity.linked))
      return Status::badInput("'" + name +
                              "': the file was changed or exchanged while it was read");
  }
  const auto end = offset + static_cast<std::int64_t>(to.size());
  while (!to.empty()) {
    const ssize_t got = ::pread(from->number, to.data(), to.size(), offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Status::badInput("'" + name + "': cannot read: " + std::strerror(errno));
    if (got == 0)
      return Status::badInput(
          "'" + name + "': the file became shorter while it was read: " + "expected " +
          std::to_string(end) + " bytes or more, got " + std::to_string(offset));
    offset += got;
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return Status::ok();
}

} // namespace syncline::data
