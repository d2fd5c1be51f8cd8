// Files that survive a crash of the machine: whole under their name, or not there.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <span>
#include <string>

namespace syncline::run {

/// Writes a file piece by piece as PATH.partial. commit() makes it durable and renames it; without
/// commit() the partial file is removed. A PATH that is there already is replaced. Not thread-safe.
/// Errors of all calls: badInput, naming the path.
class DurableFile {
public:
  static Result<DurableFile> create(const std::string &path);
  DurableFile(DurableFile &&other) noexcept;
  ~DurableFile();

  Status write(std::span<const std::byte> bytes);
  /// Called once, after the last write(). The file's name is durable once syncFolder() has been
  /// called for its folder.
  Status commit();

private:
  DurableFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  std::string partial() const { return path + ".partial"; }

  std::string path;
  int descriptor; ///< -1 once the file is closed
};

/// Makes the names in a folder durable. Errors: badInput, naming the folder.
Status syncFolder(const std::string &folder);

} // namespace syncline::run
