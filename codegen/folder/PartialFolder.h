// A folder that appears whole or not at all, and what it may take the place of.
#pragma once

#include "codegen/step/Interruption.h"
#include "syncline/Status.h"

#include <string>

namespace syncline::codegen {

/// A folder under construction, beside its later place. Where that place is a link, the folder is
/// beside the link's target, and the link stays. The destructor removes the folder with everything
/// in it unless it was renamed, also when the process is interrupted (SIGINT, SIGTERM, SIGHUP). A
/// killed process leaves it behind, unlocked; the next create() for the same place removes it.
///
/// Several processes may each have one for the same place; the last to rename wins. The class is
/// not thread-safe.
class PartialFolder {
public:
  PartialFolder() = default;
  ~PartialFolder();
  PartialFolder(const PartialFolder &) = delete;
  PartialFolder &operator=(const PartialFolder &) = delete;

  /// Makes the folder beside `target`. Precondition: this object has no folder yet. Errors:
  /// badInput, naming `target`.
  Status create(const std::string &target);
  /// Makes a folder of the system's temporary ones that only this user can read, for good partial:
  /// it has no place to be renamed to. Removes those that killed processes of this user left.
  /// Precondition and errors as create().
  Status createTemporary();
  std::string file(const std::string &name) const { return path + "/" + name; }
  /// Moves the folder to the place that create() was given. What was there is exchanged for it in
  /// one operation, so that other processes see the old or the new folder, and is then removed.
  /// Precondition: create() succeeded. Errors: badInput; the folder is still partial then.
  Status rename();

private:
  Status claim(unsigned mode);

  Interruption interruption; ///< passed on after the destructor has removed the folder
  std::string wanted;        ///< the place that create() was given, for messages
  std::string target;        ///< that place with links followed
  std::string path;          ///< where the folder is; empty where there is none
  int lock = -1;             ///< held while the folder exists; processes remove unlocked folders
};

/// How a folder takes another's place; `aside` where the file system cannot exchange two names.
enum class Swap { exchange, aside };

/// Moves the folder `from` to `to`, on the same file system, and removes what was there. With
/// `aside` there is a moment without a folder at `to`. Returns 0 or the error's number; on an error
/// `from` stays where it was.
int replaceFolder(const std::string &from, const std::string &to, Swap swap = Swap::exchange);

/// Ok where `folder` is nothing, an empty folder, or a plan's folder with nothing in it that
/// Syncline did not write itself: people save models and checkpoints into plans. Files are told by
/// their names, so that a damaged plan can be compiled anew. Errors: badInput, naming what is in
/// the way.
Status expectReplaceable(const std::string &folder);

} // namespace syncline::codegen
