// One run at a time writes into a folder of checkpoints.
#pragma once

#include "syncline/Status.h"

#include <string>

namespace syncline::run {

/// A lock (flock) of the file FOLDER/.lock, which rank 0 holds. The system lets go of it when the
/// process ends in any way; the file of a killed run stays, and the next run takes and removes it.
class CheckpointLock {
public:
  static constexpr const char *name = ".lock";
  /// Seconds that a run which is about to end has to let go.
  static constexpr double patience = 3;

  /// Errors: badInput, naming the folder, where another run holds it for the whole `seconds`, or
  /// the lock's file cannot be made or is a link.
  static Result<CheckpointLock> take(const std::string &folder, double seconds = patience);
  /// Removes the file and lets go.
  ~CheckpointLock() { release(); }
  CheckpointLock(CheckpointLock &&other) noexcept;
  CheckpointLock &operator=(CheckpointLock &&) = delete;

  /// Why the file system has no locks, so that nothing is held; empty where it has.
  const std::string &missing() const { return why; }
  /// As the destructor, for a process that ends without it.
  void release();

private:
  CheckpointLock(std::string path, int descriptor, std::string why)
      : path(std::move(path)), descriptor(descriptor), why(std::move(why)) {}
  std::string path;
  int descriptor; ///< -1 for none
  std::string why;
};

} // namespace syncline::run
