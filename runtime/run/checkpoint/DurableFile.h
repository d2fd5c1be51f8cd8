// Files that survive a crash of the machine: whole under their name, or not there.
#pragma once

#include "runtime/core/PartialFile.h"
#include "syncline/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace syncline::run {

/// Writes a file piece by piece as a core::PartialFile. commit() makes it durable and puts it in
/// its place; without commit() it is gone. A PATH that is there already is replaced, where it is a
/// link the link itself. The file's folder is no link. Not thread-safe. Errors of all calls:
/// badInput, naming the path.
class DurableFile {
public:
  static Result<DurableFile> create(const std::string &path);
  Status write(std::span<const std::byte> bytes);
  /// Called once, after the last write(). The file's name is durable once syncFolder() has been
  /// called for its folder.
  Status commit();

private:
  DurableFile(std::string path, core::PartialFile file)
      : path(std::move(path)), file(std::move(file)) {}

  std::string path;
  core::PartialFile file;
};

/// Makes the names in a folder durable. Errors: badInput, naming the folder.
Status syncFolder(const std::string &folder);

} // namespace syncline::run
