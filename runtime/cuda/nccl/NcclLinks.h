// All communicators of a rank. They are watched together while the host waits for the device, and
// aborted together when one of them is lost, because the device can finish only when none hangs.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Deadline.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/nccl/NcclCommunicator.h"

#include <memory>
#include <utility>
#include <vector>

namespace syncline::cuda {

/// The description of a message in errors.
struct MessageName {
  int bucket = 0;              ///< or core::lossMessage, or a core::fragmentMessage()
  std::string_view collective; ///< such as "all-reduce"
  std::int64_t step = 0;

  /// Messages by step, and each step's loss behind its other messages, as they are issued.
  std::pair<std::int64_t, bool> turn() const { return {step, bucket == core::lossMessage}; }
};

class NcclLinks {
public:
  /// A channel as the watch sees it.
  class Member {
  public:
    virtual ~Member() = default;
    /// The number of finished messages among those of this step and those that the step before left
    /// under way. `underWay` is set to the first unfinished one, if there is one. Throws Failure.
    virtual std::size_t finishedMessages(const MessageName *&underWay) const = 0;
    virtual NcclCommunicator &communicator() = 0;
  };

  /// Watches the members as long as it lives. The arguments outlive it.
  NcclLinks(CudaExecutable &executable, core::Peers &peers);
  NcclLinks(const NcclLinks &) = delete;
  ~NcclLinks();

  void add(Member *member) { members.push_back(member); }
  void remove(Member *member) { std::erase(members, member); }

  /// Ok, or the first failure.
  const Status &failure() const { return failed; }
  /// Records the first failure and returns it with a complete message, which names `message`, the
  /// one under way, or the present step where that is null. Abandons all messages, unless a step is
  /// being captured, because the capture must end first.
  Status fail(const Status &status, const MessageName *message);
  /// Aborts all communicators, which cannot be used afterwards.
  void abandon();
  /// States that step `step` begins.
  void startStep(std::int64_t step) { present = step; }
  /// Ends a wait: called when the host does other work.
  void rest();

private:
  /// Called while the host waits. Returns ok, or the failure after its messages were abandoned.
  Status look();
  Status judge();
  const MessageName *firstUnderWay(std::size_t &finished) const;

  CudaExecutable &executable;
  core::Peers &peers;
  int number; ///< number of the watch in the executable's waits
  std::vector<Member *> members;
  Status failed;
  std::int64_t present = -1; ///< the step that has begun last; -1 before the first one

  // The time since which no message has finished.
  bool isWaiting = false;
  std::size_t finished = 0;
  core::Clock::time_point moved, counted;
  std::shared_ptr<void> waiting; ///< reports to other ranks for which rank this one waits
};

} // namespace syncline::cuda
