// A group of ranks that sum the messages of a plan.
#pragma once

#include "runtime/api/GroupSettings.h"
#include "runtime/api/OpenPlan.h"
#include "runtime/transport/CommunicationThread.h"
#include "runtime/transport/Group.h"
#include "runtime/transport/TaggedTransport.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace syncline::api {

/// Values that a caller hands over.
struct Values {
  void *data = nullptr;
  std::int64_t count = 0;
  int type = SYNCLINE_F32;
  int operation = SYNCLINE_SUM; ///< or `gathering`, where `data` has `count` values of each rank
  core::Half half = core::Half::whole; ///< of a message in shards; then `data` has it once
};

/// Calls and threads are as syncline.h says of syncline_group.
class PlanGroup {
public:
  static Result<std::unique_ptr<PlanGroup>> join(std::shared_ptr<const OpenPlan> open,
                                                 const GroupSettings &settings);
  /// Precondition: close() has returned, or no message was issued.
  ~PlanGroup();

  Failure issue(int message, const Values &values, std::uint64_t &ticket);
  Failure gather(int message, const Values &values, std::uint64_t &ticket);
  Failure shardOf(int message, std::int64_t &offset, std::int64_t &count) const;
  Failure reduceScatter(int message, const Values &values, std::uint64_t &ticket);
  Failure allGather(int message, const Values &values, std::uint64_t &ticket);
  Failure allReduce(const Values &values, std::uint64_t &ticket);
  Failure wait(std::uint64_t ticket, double seconds);
  Failure step();
  Failure check() const;
  Failure trace(syncline_message_time *times, std::int64_t capacity, std::int64_t &count) const;
  Failure abort(const std::string &why);
  Failure close(double seconds);
  /// badUsage on a thread that calls `done`, which a blocking `call` there would wait for.
  Failure checkMayBlock(const char *call) const;

private:
  /// A message from its issue to its end.
  struct UnderWay {
    std::uint64_t ticket = 0;
    int message = -1; ///< its place in the plan; -1 for another
    Values values;
    std::size_t bytes = 0;
    ElementType type = ElementType::f32;
    Scheme scheme = Scheme::ring;
    std::int64_t step = 0;
    double stepBegan = 0; ///< seconds since the group was joined
  };

  PlanGroup(std::shared_ptr<const OpenPlan> open, const GroupSettings &settings)
      : open(std::move(open)), settings(settings) {}
  Status connect();
  Status checkPlan() const;
  Status openChannels();
  Failure checkGoesOn() const;
  Failure checkValues(const Values &values) const;
  Failure checkWhole(int message, const Values &values) const;
  Failure checkSharded(int message) const;
  Failure checkIdle(int message) const;
  Failure checkOrder(int message) const;
  Failure handOver(int message, const Values &values, std::uint64_t &ticket);
  Failure enqueue(int channel, UnderWay message, std::uint64_t &ticket);
  Status handTo(transport::CommunicationThread &channel, const UnderWay &message) const;
  core::Range ownBytes(int message) const;
  void begins(int channel);
  void arrived(int channel, const core::BucketTiming &timing, const Status &status);
  void divideSum(const UnderWay &message) const;
  void record(const UnderWay &message, const core::BucketTiming &timing);
  Failure failureOf(const Status &status, const UnderWay &message) const;
  void spread(const Failure &failure);
  bool isUnderWay(std::uint64_t ticket) const;
  bool isIdle() const;
  std::string nameOf(const UnderWay &message) const;
  std::string prefix() const;

  const std::shared_ptr<const OpenPlan> open;
  const GroupSettings settings;
  const core::Clock::time_point joined = core::Clock::now();
  std::unique_ptr<transport::Group> group;
  std::map<int, transport::TaggedTransport> carriers; ///< by channel
  std::map<int, std::unique_ptr<transport::CommunicationThread>> channels;

  mutable std::mutex mutex;
  std::condition_variable ended;
  std::map<int, std::deque<UnderWay>> underWay; ///< by channel, in the order of issue
  std::map<std::uint64_t, Failure> failed;      ///< by ticket
  Failure broken;                               ///< the first failure of a message, or the abort
  std::uint64_t lastTicket = 0;
  std::int64_t present = 0; ///< the step
  double stepBegan = 0;     ///< seconds since the group was joined
  int lastIssued = -1;      ///< message of this step
  std::deque<syncline_message_time> times;
};

} // namespace syncline::api

/// What programs hold.
struct syncline_group {
  std::unique_ptr<syncline::api::PlanGroup> group;
};
