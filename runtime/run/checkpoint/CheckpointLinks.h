// How rank 0 learns that all ranks have written their files of a checkpoint.
#pragma once

#include "runtime/run/checkpoint/CheckpointFile.h"
#include "runtime/transport/Group.h"
#include "runtime/transport/Socket.h"

#include <map>
#include <vector>

namespace syncline::run {

/// What became of a rank's file: its digest, or why there is none.
struct CheckpointReport {
  CheckpointDigest digest;
  std::string error; ///< empty for a file that is complete
};

/// Connections from rank 0 to every other worker, independent of the buckets' channels and of the
/// group's store, so that a thread may wait on them while steps run. One thread at a time uses it.
class CheckpointLinks {
public:
  /// All workers call it together. `group` outlives the links, and is null in a run of one rank.
  /// Errors: peerLost.
  static Result<CheckpointLinks> open(transport::Group *group, double timeoutSeconds);

  /// Returns all workers' reports, by rank, on rank 0, and nothing on others. Waits as long as no
  /// rank is known to be lost, because disks may be slow. Errors: peerLost.
  Result<std::vector<CheckpointReport>> collect(std::int64_t step, const CheckpointReport &own);

private:
  CheckpointLinks(transport::Group *group, double timeout) : group(group), timeout(timeout) {}
  Status connect();
  Status send(std::int64_t step, const CheckpointReport &own);
  Result<CheckpointReport> receive(std::int64_t step, int other);

  transport::Group *group;
  double timeout;
  std::map<int, transport::Socket> others; ///< by rank
};

} // namespace syncline::run
