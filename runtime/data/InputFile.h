// A regular file that is read at any place.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace syncline::data {

/// Whether a path that is a link leads to a file.
enum class Links { followed, refused };

/// Reads by pread(), so that a file that becomes shorter is an error and no signal. Thread-safe.
class InputFile {
public:
  /// Errors: badInput, naming the file, unless it is a regular file that can be opened.
  static Result<InputFile> open(const std::string &path, Links links = Links::followed);

  const std::string &path() const { return name; }
  /// Bytes of the file when it was opened.
  std::int64_t size() const { return bytes; }
  /// Fills `to` with the bytes from `offset` on. Errors: badInput, naming the file, where it ends
  /// before, and where a file that was let go is no longer the one that was opened.
  Status read(std::int64_t offset, std::span<std::byte> to) const;
  /// Closes the file; from now on every read opens it. A process has few descriptors.
  void letGo() { descriptor.reset(); }

private:
  struct Descriptor;
  /// Which file it is, and when its content and its name or rights were last changed (ns).
  struct Identity {
    std::uint64_t number = 0;
    std::int64_t changed = 0, linked = 0;
  };
  static Result<std::shared_ptr<const Descriptor>> openDescriptor(const std::string &path,
                                                                  Links links);
  std::string name;
  Links links = Links::followed;
  std::int64_t bytes = 0;
  Identity identity;
  std::shared_ptr<const Descriptor> descriptor; ///< null after letGo()
};

} // namespace syncline::data
