// All communicators of a rank: watched together while the host waits for the device, and aborted
// together when one of them is lost, since the device only comes to rest when none hangs.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/NcclCommunicator.h"

#include <memory>
#include <vector>

namespace syncline::cuda {

/// What errors say of a message.
struct MessageName {
  int bucket = 0;
  std::string_view collective; ///< "all-reduce"
  std::int64_t step = 0;
};

class NcclLinks {
public:
  /// What is watched of a channel.
  class Member {
  public:
    virtual ~Member() = default;
    /// Messages of this step that have come to their end, and the first that has not, if there is
    /// one. Throws Failure.
    virtual std::size_t finishedMessages(const MessageName *&underWay) const = 0;
    virtual NcclCommunicator &communicator() = 0;
  };

  /// Watches as long as it lives; both outlive it.
  NcclLinks(CudaExecutable &executable, Peers &peers);
  NcclLinks(const NcclLinks &) = delete;
  ~NcclLinks();

  void add(Member *member) { members.push_back(member); }
  void remove(Member *member) { std::erase(members, member); }

  /// Ok until the first failure, and then that.
  const Status &failure() const { return failed; }
  /// The first failure, in full: `message` is the one under way, null where that is not known.
  /// Abandons the messages, unless a step is being captured, which has to end first.
  Status fail(const Status &status, const MessageName *message);
  /// Ends what all communicators have under way; afterwards they are of no use.
  void abandon();
  /// The host does something other than wait.
  void rest();

private:
  /// While the host waits: ok, or the failure, which has been acted on.
  Status look();
  Status judge();
  const MessageName *firstUnderWay(std::size_t &finished) const;

  CudaExecutable &executable;
  Peers &peers;
  int number; ///< in the executable's waits
  std::vector<Member *> members;
  Status failed;

  // Since when nothing has moved.
  bool isWaiting = false;
  std::size_t finished = 0;
  Clock::time_point moved, counted;
  std::shared_ptr<void> waiting; ///< what others are told meanwhile
};

} // namespace syncline::cuda
