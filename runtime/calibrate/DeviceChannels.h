// Messages through a device's memory, by its backend's own channels.
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
  bool sharesDevice = false;
};

/// The schemes that a backend's channels carry.
std::vector<Scheme> channelSchemes();

/// The buckets that the device's step must declare for the channels' scratch memory and updates.
std::vector<core::Bucket> bucketsFor(const ChannelWishes &wishes);

/// A channel and a scheme by which messages travel on it.
struct Route {
  core::Channel *channel = nullptr;
  Scheme scheme = Scheme::ring;
  int firstBucket = 0; ///< the first of maxUnderWay bucket numbers
};

/// The channels of a calibration: one for the tree, one for the algorithm that the library chooses,
/// one for all other schemes, and a second channel for the first scheme. One thread uses them, on
/// all ranks together.
class DeviceChannels {
public:
  /// Messages of one route that may be under way at once.
  static constexpr int maxUnderWay = 1024;

  /// The arguments outlive the result, and the device has declared bucketsFor(wishes). Errors:
  /// peerLost; badInput as in Backend::openChannel().
  static Result<std::shared_ptr<DeviceChannels>> open(const core::Backend &backend,
                                                      core::Peers &peers, Team &team,
                                                      Device &device, const ChannelWishes &wishes);

  Route route(Scheme scheme) const;
  /// The route of the first scheme on the second channel.
  Route secondRoute() const;

  /// Begins a step on the device and on all channels, with some computation first. While it runs,
  /// the host enqueues what follows, so that the host's own time is not measured.
  Status begin();
  /// Enqueues the route's message `number`, counted from 0, of `bytes` bytes, which begin `at`
  /// bytes into the device's room(). What is computed after wait() finds it complete.
  Status send(const Route &route, int number, std::int64_t bytes, std::int64_t at = 0);
  Status wait(const Route &route, int number) {
    return route.channel->wait(route.firstBucket + number);
  }

  /// Times messages on all routes at once; on each route they follow each other. See Timing.
  Result<double> time(std::span<const Route> routes, std::int64_t bytes, Repetitions times);

  int ranks() const { return team.size(); }

private:
  DeviceChannels(Team &team, Device &device, const ChannelWishes &wishes)
      : team(team), device(device), wishes(wishes) {}
  Status sendAll(std::span<const Route> routes, int first, int count, std::int64_t bytes);

  Team &team;
  Device &device;
  const ChannelWishes wishes;
  std::vector<std::unique_ptr<core::Channel>>
      channels; ///< by channel number; null where not needed
};

/// The timings of the channels' schemes. No message is longer than largestMessage() for `largest`.
Messages channelMessages(const std::shared_ptr<DeviceChannels> &channels,
                         const std::vector<Scheme> &schemes, std::int64_t largest);

} // namespace syncline::calibrate
