// What a short message that the host carries costs the computation beside it.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Statistics.h"
#include "runtime/calibrate/Team.h"
#include "runtime/transport/CommunicationThread.h"

#include <memory>
#include <vector>

namespace syncline::calibrate {

/// Hands short messages to a channel's thread, as training does, while operations run, and finds
/// the share of a message's time that these lose. All ranks use it together. Errors: peerLost.
class LatencyOverlap {
public:
  /// All arguments outlive the result.
  static Result<std::unique_ptr<LatencyOverlap>> open(transport::Transport &transport, Team &team,
                                                      Device &device);

  /// Measures until the median is stable, or until the time `until` of the team's clock. The
  /// samples are between 0 and 1. All ranks get the same result.
  Result<Summary> measure(double until);

  static constexpr std::int64_t bytes = 1 << 10; ///< of a message; a packet

private:
  LatencyOverlap(Team &team, Device &device, std::unique_ptr<core::Channel> channel)
      : team(team), device(device), channel(std::move(channel)), message(bytes / sizeof(float)) {}
  Status choose();
  Result<double> round();
  Status compute() { return device.run(device.smallest(), runs); }
  Result<double> seconds(bool sends, bool computes);

  Team &team;
  Device &device;
  const std::unique_ptr<core::Channel> channel;
  std::vector<float> message;
  int runs = 1; ///< runs of the smallest operation, which outlast a message
};

} // namespace syncline::calibrate
