// One channel's communicator: all ranks create it together, issue the same calls in the same order,
// and leave it together.
//
// It is nonblocking (ncclConfig_t::blocking = 0): a call returns at once, NCCL works in the
// background, and this class polls until the work is done. A rank that dies while others connect to
// it, or during the first message between two ranks, therefore ends the run instead of hanging it.
#pragma once

#include "runtime/core/Peers.h"
#include "runtime/core/StepTypes.h"
#include "runtime/cuda/nccl/Nccl.h"

#include <vector>

namespace syncline::cuda {

/// Used by one thread. Functions throw Failure: peerLost that names the rank at fault, or badInput
/// or internal with NCCL's message.
class NcclCommunicator {
public:
  /// Creates the communicator on the current device, together with all ranks. Rank 0 makes an id
  /// and distributes it under `key`, which is used once. `peers` outlives this object. Throws.
  NcclCommunicator(core::Peers &peers, const std::string &key);
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;
  ~NcclCommunicator() { leave(); }
  /// Leaves the communicator together with the other ranks, or aborts it if they do not come.
  /// Called before kept memory is freed.
  void leave();

  int rank() const { return peers.rank(); }
  int size() const { return peers.size(); }
  /// The rank for whose messages this rank waits in a ring.
  int previous() const { return (rank() + size() - 1) % size(); }
  ncclComm_t handle() const { return comm; }

  /// Registers memory for messages with NCCL. The memory must live until leave(). Throws.
  void keep(const core::Interval &memory);

  /// Runs NCCL calls as one group and returns when NCCL has enqueued them on their stream. Throws.
  template <typename Calls> void group(const Calls &calls) {
    SYNCLINE_CHECK(ncclGroupStart());
    try {
      calls();
    } catch (const NcclFailure &failure) {
      ncclGroupEnd();
      throw judge(failure);
    } catch (...) {
      ncclGroupEnd();
      throw;
    }
    settle(ncclGroupEnd(), "ncclGroupEnd");
  }

  /// NCCL's status of the messages under way: ncclSuccess without errors.
  ncclResult_t error() const;
  /// The error for a failure of NCCL: peerLost with the rank at fault where a rank is lost, which
  /// NCCL may notice first. Takes a few seconds at most.
  Failure judge(const NcclFailure &failure) const;
  /// Aborts all messages on this rank alone. Several communicators must be aborted between
  /// ncclGroupStart() and ncclGroupEnd(), because they may wait for each other. Nothing else may be
  /// called afterwards.
  void abort();

private:
  void join(const std::string &key);
  /// Waits until NCCL has finished the call that returned `status`. Throws, also after the
  /// time limit.
  void settle(ncclResult_t status, const char *call);
  void close();

  core::Peers &peers;
  ncclComm_t comm = nullptr;
  std::vector<void *> kept;
};

} // namespace syncline::cuda
