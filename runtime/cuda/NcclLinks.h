// All communicators of a rank. They are watched together while the host waits for the device, and
// aborted together when one of them is lost, because the device can finish only when none hangs.
#pragma once

#include "runtime/core/Deadline.h"
#include "runtime/cuda/CudaExecutable.h"
#include "runtime/cuda/NcclCommunicator.h"

#include <memory>
#include <utility>
#include <vector>

namespace syncline::cuda {

/// The description of a message in errors.
struct MessageName {
  int bucket = 0;
  std::string_view collective; ///< such as "all-reduce"
  std::int64_t step = 0;

  /// Messages by step, and each step's loss behind its other messages, as they are issued.
  std::pair<std::int64_t, bool> turn() const { return {step, bucket < 0}; }
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
  /// Records the first failure and returns it with a complete message. `message` is the message
  /// under way, or null if unknown. Abandons all messages, unless a step is being captured, because
  /// the capture must end first.
  Status fail(const Status &status, const MessageName *message);
  /// Aborts all communicators, which cannot be used afterwards.
  void abandon();
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

  // The time since which no message has finished.
  bool isWaiting = false;
  std::size_t finished = 0;
  core::Clock::time_point moved, counted;
  std::shared_ptr<void> waiting; ///< reports to other ranks for which rank this one waits
};

} // namespace syncline::cuda
