// One channel's communicator: its ranks meet, issue the same calls in the same order, and part.
//
// It does not block (ncclConfig_t::blocking = 0): a call returns at once, NCCL goes on beside it,
// and this class asks until it is done. A rank that dies while others connect to it, or while a
// message first travels between two ranks, then ends the run instead of hanging it.
#pragma once

#include "runtime/core/Peers.h"
#include "runtime/core/StepTypes.h"
#include "runtime/cuda/Nccl.h"

#include <vector>

namespace syncline::cuda {

/// Used by one thread. All that throws, throws Failure: peerLost that names whose fault it is;
/// badInput or internal with NCCL's words.
class NcclCommunicator {
public:
  /// All ranks meet, on the device that is current: rank 0 makes an id and hands it on under `key`,
  /// which is used once. `peers` outlives this object. Throws.
  NcclCommunicator(Peers &peers, const std::string &key);
  NcclCommunicator(const NcclCommunicator &) = delete;
  NcclCommunicator &operator=(const NcclCommunicator &) = delete;
  ~NcclCommunicator() { leave(); }
  /// Parts from the others, or aborts where they do not come. Before memory goes that was kept.
  void leave();

  int rank() const { return peers.rank(); }
  int size() const { return peers.size(); }
  /// The rank whose messages this one waits for in a ring.
  int previous() const { return (rank() + size() - 1) % size(); }
  ncclComm_t handle() const { return comm; }

  /// Lets NCCL prepare for messages in this memory, which stays until leave(). Throws.
  void keep(const Interval &memory);

  /// Runs NCCL's calls as one group; when it returns, NCCL has given them to their stream. Throws.
  template <typename Calls> void group(const Calls &calls) {
    check(ncclGroupStart(), "ncclGroupStart");
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

  /// What NCCL says of messages under way: ncclSuccess while all is well.
  ncclResult_t error() const;
  /// Whose fault it is that NCCL failed: peerLost where a rank is lost, which NCCL may notice
  /// before others do; a few seconds at most.
  Failure judge(const NcclFailure &failure) const;
  /// Ends what is under way, on this rank alone. Several are aborted between ncclGroupStart() and
  /// ncclGroupEnd(), for they may wait for each other. Afterwards nothing else may be called.
  void abort();

private:
  void join(const std::string &key);
  /// Returns when NCCL has done what was asked for by a call that said `status`. Throws; also after
  /// the time limit.
  void settle(ncclResult_t status, const char *call);
  void close();

  Peers &peers;
  ncclComm_t comm = nullptr;
  std::vector<void *> kept;
};

} // namespace syncline::cuda
