// Writing checkpoints beside the steps.
#pragma once

#include "runtime/run/checkpoint/CheckpointFolder.h"
#include "runtime/run/checkpoint/CheckpointLinks.h"

#include <thread>

namespace syncline::run {

/// A checkpoint in memory: this rank's parts, and the manifest without its files.
struct CheckpointImage {
  CheckpointManifest manifest;
  std::vector<CheckpointPart> parts;
};

/// A thread writes the file of this rank; rank 0's completes the checkpoint when all ranks have
/// written theirs, and removes older ones. One checkpoint at a time is under way. A checkpoint that
/// cannot be written is removed, and the older ones stay. One thread makes all calls.
class CheckpointWriter {
public:
  CheckpointWriter(CheckpointFolder folder, int rank, std::int64_t keep, CheckpointLinks links)
      : folder(std::move(folder)), rank(rank), keep(keep), links(std::move(links)) {}
  /// Waits for the checkpoint that is under way.
  ~CheckpointWriter() { wait(); }
  CheckpointWriter(const CheckpointWriter &) = delete;

  /// Waits for the checkpoint that is under way, if there is one.
  void wait();
  /// Begins to write. `image` stays as it is until wait() has returned. All workers call it after
  /// the same steps. Precondition: wait().
  void begin(const CheckpointImage &image);

  /// What became of the last checkpoint that is no longer under way: ok where it is complete, as
  /// far as this rank knows. Precondition: wait().
  const Status &last() const { return outcome; }
  /// Seconds that the last one took beside the steps. Precondition: wait().
  double seconds() const { return took; }

private:
  Status write(const CheckpointImage &image);
  CheckpointReport writeOwn(const CheckpointImage &image) const;

  const CheckpointFolder folder;
  const int rank;
  const std::int64_t keep;
  CheckpointLinks links;
  Status outcome; ///< written by the thread, read after it has been joined
  double took = 0;
  std::thread thread;
};

} // namespace syncline::run
