// A folder that appears whole or not at all.
#pragma once

#include "codegen/step/Interruption.h"
#include "syncline/Status.h"

#include <string>

namespace syncline {

/// Holds the files of a folder to be, beside the place where it will be: where that is a link,
/// beside what the link leads to, and the link stays. Removed with everything in it unless it is
/// renamed, also when the process is interrupted (SIGINT, SIGTERM, SIGHUP). A process that is
/// killed leaves it behind, unlocked; the next create() for the same place removes it.
///
/// Several processes may have one each for the same place: the last to rename stays. Not
/// thread-safe.
class PartialFolder {
public:
  PartialFolder() = default;
  ~PartialFolder();
  PartialFolder(const PartialFolder &) = delete;
  PartialFolder &operator=(const PartialFolder &) = delete;

  /// Makes the folder beside `target`. Precondition: there is none yet. Errors: badInput, naming
  /// `target`.
  Status create(const std::string &target);
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Takes the place that create() was told. What is there steps aside at the same moment, so that
  /// whoever looks finds the one or the other, and is removed. Precondition: create() succeeded.
  /// Errors: badInput; the folder is still the partial one then.
  Status rename();

private:
  Status claim();

  Interruption interruption; ///< passed on after the destructor has removed the folder
  std::string wanted;        ///< as create() was told, for messages
  std::string target;        ///< where links end
  std::string path;          ///< empty: no folder
  int lock = -1;             ///< held while the folder is ours; others remove what nobody locks
};

/// How a folder takes another's place; `aside` where the file system cannot exchange two names.
enum class Swap { exchange, aside };

/// Makes the folder `from` the one at `to`, on the same file system, and removes what was there. By
/// `aside` there is a moment without a folder at `to`. Returns 0 or the error's number; `from` is
/// where it was then.
int replaceFolder(const std::string &from, const std::string &to, Swap swap = Swap::exchange);

} // namespace syncline
