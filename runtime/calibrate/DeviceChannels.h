// Messages through a device's memory, by the channels that its backend brings along.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Messages.h"
#include "runtime/calibrate/Team.h"

#include <memory>
#include <span>

namespace syncline::calibrate {

struct ChannelWishes {
  std::vector<Scheme> schemes;
  std::int64_t largest = 0; ///< bytes of the longest message
  WirePrecision wire = WirePrecision::fp32;
  bool sharesDevice = false;
};

/// What channels of backends carry. Factors only as fp32: rounded, they take scratch by the
/// operations of a step that gathers them, which is not the calibration's.
std::vector<Scheme> channelSchemes(WirePrecision wire);

/// What the device's step is to declare, for its channels' scratch and updates.
std::vector<Bucket> bucketsFor(const ChannelWishes &wishes);

/// A message's way: a channel and a scheme.
struct Lane {
  Channel *channel = nullptr;
  Scheme scheme = Scheme::ring;
  int firstBucket = 0; ///< of as many as may be under way at once
};

/// The channels of a calibration: one for the ring and what else does not choose how to go, one for
/// the tree, and a second one for the first scheme. One thread; all ranks together.
class DeviceChannels {
public:
  /// Messages of one lane that may be under way at once.
  static constexpr int maxUnderWay = 1024;

  /// All outlive it; the device knows of bucketsFor(wishes). Errors: peerLost; badInput, as
  /// Backend::openChannel().
  static Result<std::shared_ptr<DeviceChannels>> open(const Backend &backend, Peers &peers,
                                                      Team &team, Device &device,
                                                      const ChannelWishes &wishes);

  Lane lane(Scheme scheme) const;
  /// By the first scheme, beside lane().
  Lane secondLane() const;

  /// Begins a stretch of time on the device and on all channels, with computation in front: while
  /// it lasts, the host tells the device what follows, so that its own time does not show.
  Status begin();
  /// Enqueues the lane's message `number`, from 0, of so many bytes; they begin `at` bytes into the
  /// room for messages. What is computed from wait() on finds it done.
  Status send(const Lane &lane, int number, std::int64_t bytes, std::int64_t at = 0);
  Status wait(const Lane &lane, int number) {
    return lane.channel->wait(lane.firstBucket + number);
  }

  /// Timing of messages on all of the lanes at once, which follow each other on each.
  Result<double> time(std::span<const Lane> lanes, std::int64_t bytes, Repetitions times);

  int ranks() const { return team.size(); }

private:
  DeviceChannels(Team &team, Device &device, const ChannelWishes &wishes)
      : team(team), device(device), wishes(wishes) {}
  Status sendAll(std::span<const Lane> lanes, int first, int count, std::int64_t bytes);

  Team &team;
  Device &device;
  const ChannelWishes wishes;
  std::vector<std::unique_ptr<Channel>> channels; ///< by number; null where not needed
};

/// Their ways, for the wished schemes. No message is longer than largestMessage() of `largest`.
Messages channelMessages(const std::shared_ptr<DeviceChannels> &channels,
                         const std::vector<Scheme> &schemes, std::int64_t largest);

} // namespace syncline::calibrate
