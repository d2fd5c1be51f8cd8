// Reading a file that may be compressed by gzip as a stream.
#pragma once

#include "syncline/Status.h"

#include <streambuf>
#include <string>
#include <vector>

struct gzFile_s;

namespace syncline::files {

/// The content of a file, uncompressed where it is gzip's. A buffer for one std::istream; after an
/// error the stream ends.
class GzipFile : public std::streambuf {
public:
  GzipFile() = default;
  ~GzipFile() override;
  GzipFile(const GzipFile &) = delete;
  GzipFile &operator=(const GzipFile &) = delete;

  /// Errors: badInput, opening with the path, for a folder and for what cannot be opened.
  Status open(const std::string &path);

  /// Why the stream ended before the file's content did; ok where it did not.
  const Status &status() const { return failure; }

private:
  int_type underflow() override;

  std::string path;
  gzFile_s *file = nullptr;
  std::vector<char> chunk;
  Status failure = Status::ok();
};

} // namespace syncline::files
