// A folder that appears whole or not at all.
#pragma once

#include "codegen/step/Interruption.h"
#include "syncline/Status.h"

#include <string>

namespace syncline {

/// Holds the files of a folder to be, beside the place where it will be. Removed with everything in
/// it unless it is renamed, also when the process is interrupted (SIGINT, SIGTERM, SIGHUP).
class PartialFolder {
public:
  ~PartialFolder();

  /// Makes the folder beside `target`. Errors: badInput, naming `target`.
  Status create(const std::string &target);
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Takes the target's place; a plan that is there steps aside and is removed afterwards.
  Status renameTo(const std::string &target);

private:
  Interruption interruption; ///< passed on after the destructor has removed the folder
  std::string path;
};

} // namespace syncline
