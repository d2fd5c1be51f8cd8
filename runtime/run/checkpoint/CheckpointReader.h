// Reading a checkpoint whose files have been judged good.
#pragma once

#include "runtime/run/checkpoint/CheckpointFolder.h"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace syncline::run {

/// The parts of all files of a checkpoint. Not thread-safe. Errors of all calls: badInput, naming
/// the checkpoint or its file.
class CheckpointReader {
public:
  /// Opens all files. A part that several ranks have is that of `rank`.
  static Result<CheckpointReader> open(const CheckpointFolder &folder,
                                       const CheckpointManifest &manifest, int rank);

  /// Reads a whole part.
  Status read(const CheckpointKey &key, std::span<std::byte> to);
  /// Whether the checkpoint has moments of this slot.
  bool hasMoments(int slot) const { return slots.contains(slot); }
  /// Reads the bytes of a parameter's moment from `begin` on, which several parts may hold.
  Status readMoment(const std::string &parameter, int slot, std::int64_t begin,
                    std::span<std::byte> to);

private:
  struct Place {
    std::size_t file = 0;
    std::int64_t bytes = 0;
  };
  Status missing(const CheckpointKey &key) const;

  std::string name; ///< of the checkpoint's folder
  std::vector<CheckpointFile> files;
  std::map<CheckpointKey, Place> places;
  std::set<int> slots;
};

} // namespace syncline::run
