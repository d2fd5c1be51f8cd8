// Reads by zlib, which hands on what is not compressed as it is.
#include "frontend/files/GzipFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <zlib.h>

namespace syncline::files {

GzipFile::~GzipFile() {
  if (file)
    gzclose(file);
}

Status GzipFile::open(const std::string &name) {
  path = name;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Status::badInput(path + ": expected a file, got a directory");
  errno = 0;
  file = gzopen(path.c_str(), "rb");
  if (!file)
    return Status::badInput(path + ": cannot open: " + std::strerror(errno != 0 ? errno : ENOENT));
  chunk.resize(1 << 18);
  gzbuffer(file, 1 << 18);
  return Status::ok();
}

GzipFile::int_type GzipFile::underflow() {
  const int got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()));
  int code = Z_OK;
  const char *reason = gzerror(file, &code);
  if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END))
    failure = Status::badInput(
        path + ": cannot read: " + (code == Z_ERRNO ? std::strerror(errno) : reason));
  if (got <= 0)
    return traits_type::eof();
  setg(chunk.data(), chunk.data(), chunk.data() + got);
  return traits_type::to_int_type(chunk.front());
}

} // namespace syncline::files
