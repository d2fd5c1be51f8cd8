// Files that survive a crash of the machine: whole under their name, or not there.
#pragma once

#include "syncline/Status.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace syncline::run {

/// Writes a file piece by piece as PATH.partial-XXXXXXXX, a new file by a random name. commit()
/// makes it durable and renames it; without commit() the partial file is removed. A PATH that is
/// there already is replaced, where it is a link the link itself. The file's folder is no link.
/// Not thread-safe. Errors of all calls: badInput, naming the path.
class DurableFile {
public:
  /// What stands behind the path in a partial file's name, and before random digits.
  static constexpr std::string_view partialMark = ".partial";

  static Result<DurableFile> create(const std::string &path);
  DurableFile(DurableFile &&other) noexcept;
  ~DurableFile();

  Status write(std::span<const std::byte> bytes);
  /// Called once, after the last write(). The file's name is durable once syncFolder() has been
  /// called for its folder.
  Status commit();

private:
  DurableFile(std::string path, int folder) : path(std::move(path)), folder(folder) {}
  int open();
  const char *name() const { return path.c_str() + path.rfind('/') + 1; }

  std::string path;
  std::string partial; ///< the name in the folder
  int folder;          ///< a descriptor
  int descriptor = -1; ///< of the file; -1 once it is closed
};

/// Makes the names in a folder durable. Errors: badInput, naming the folder.
Status syncFolder(const std::string &folder);

} // namespace syncline::run
