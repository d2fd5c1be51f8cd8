// The folder of a run's checkpoints: DIR/stepN holds the one after N steps.
#pragma once

#include "runtime/run/checkpoint/CheckpointManifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::run {

class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}

  std::string of(std::int64_t step) const { return path + "/step" + std::to_string(step); }
  std::string manifestOf(std::int64_t step) const {
    return of(step) + "/" + CheckpointManifest::name;
  }
  std::string fileOf(std::int64_t step, int rank) const {
    return of(step) + "/" + checkpointFileName(rank);
  }

  /// A checkpoint's folder. One without a manifest was not finished.
  struct Entry {
    std::int64_t step = 0;
    bool hasManifest = false;
  };
  /// What is there, from the last step to the first. A link is no checkpoint. Empty where the
  /// folder cannot be read.
  std::vector<Entry> list() const;

  /// The text of a checkpoint's manifest. Errors: badInput, naming the file, unless it is a regular
  /// file of at most CheckpointManifest::longest bytes.
  Result<std::string> readManifest(std::int64_t step) const;

  /// Writes a checkpoint's manifest, whose files are complete. From then on the checkpoint is
  /// there, also after a crash of the machine. Errors: badInput, naming the path.
  Status complete(const CheckpointManifest &manifest) const;
  /// Removes a checkpoint, its manifest first, with the partial files of killed runs. Files that no
  /// checkpoint has stay, and so does their folder; links are not followed. Errors are ignored:
  /// what stays is refused or removed later.
  void remove(std::int64_t step) const;
  /// Removes what was begun before `step` and not finished, and all complete checkpoints up to
  /// `step` but the last `keep`.
  void prune(std::int64_t step, std::int64_t keep) const;

  /// A new empty file by a random name, by which ranks find out whether they see one folder. Those
  /// that killed runs have left are removed first. Errors: badInput, naming the folder.
  Result<std::string> makeToken() const;

  const std::string path;
};

} // namespace syncline::run
