// Agreeing on a folder of checkpoints and on the one from which a run goes on.
#pragma once

#include "runtime/run/checkpoint/CheckpointFolder.h"
#include "runtime/run/checkpoint/CheckpointLock.h"
#include "runtime/transport/Group.h"

#include <functional>
#include <optional>
#include <string>

namespace syncline::run {

/// The ranks that agree. All workers construct it and make the same calls.
class CheckpointChoice {
public:
  struct Ranks {
    transport::Group *group = nullptr;             ///< null in a run of one rank
    double seconds = 600;                          ///< that a rank may take to read its files
    std::function<void(const std::string &)> note; ///< prints a line, on rank 0
  };

  CheckpointChoice(CheckpointFolder folder, Ranks ranks)
      : folder(std::move(folder)), ranks(std::move(ranks)) {}

  /// Makes the folder, locks it for this run on rank 0, and checks that every rank can write there
  /// and sees what rank 0 writes. The same error on all ranks: badInput, naming the rank, or saying
  /// that another run has the folder.
  Status open();
  /// The lock, on rank 0. Precondition: open().
  std::optional<CheckpointLock> takeLock() { return std::move(lock); }
  /// Ok where the folder has no checkpoint; removes what killed runs have left. Errors, the same on
  /// all ranks: badInput.
  Status expectNone();

  /// What rank 0 thinks of a checkpoint whose manifest is good.
  struct Opinion {
    std::string refusal{}; ///< why another one is tried; empty for none
    std::string error{};   ///< why the run ends; empty for none
  };
  /// Returns the manifest of the newest good checkpoint, or nothing where there is no checkpoint.
  /// `judge` is called on rank 0. A checkpoint is good when rank 0 does not refuse it and each file
  /// has the length and the SHA-256 that the manifest says, of which each rank checks its own. Says
  /// of each newer one why it is refused. Errors, the same on all ranks: badInput where none of
  /// several is good.
  Result<std::optional<CheckpointManifest>>
  choose(const std::function<Opinion(const CheckpointManifest &)> &judge);

private:
  bool isFirst() const { return !ranks.group || ranks.group->rank() == 0; }
  int size() const { return ranks.group ? ranks.group->workers() : 1; }
  int rank() const { return ranks.group ? ranks.group->rank() : 0; }
  Result<std::vector<std::string>> gather(const std::string &value);
  std::string makeFolder(std::string &token);
  std::string seeToken(const std::string &token) const;
  std::string propose(const std::function<Opinion(const CheckpointManifest &)> &judge);
  std::string judgeOwnFiles(const CheckpointManifest &manifest) const;
  void refuse(std::int64_t step, const std::string &why);

  const CheckpointFolder folder;
  const Ranks ranks;
  int gathered = 0;                                         ///< number of exchanges so far
  std::optional<std::vector<CheckpointFolder::Entry>> left; ///< on rank 0: not tried yet
  bool hasRefused = false;
  std::optional<CheckpointLock> lock; ///< on rank 0
};

} // namespace syncline::run
