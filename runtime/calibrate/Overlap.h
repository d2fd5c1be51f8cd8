// Computation and messages at the same time: what they cost each other.
#pragma once

#include "runtime/calibrate/Device.h"
#include "runtime/calibrate/Findings.h"
#include "runtime/calibrate/Team.h"

#include <iterator>

namespace syncline::calibrate {

/// A fixed amount of computation, timed alone and while the channel has a message under way all the
/// time. Long messages: short ones keep a processor as busy as computation does, so that the
/// scheduler's slices would be measured; where training computes, the channel moves long ones.
/// All ranks together, one thread at a time.
class Overlap {
public:
  /// Of the messages, by turns; all pass by the ring.
  static constexpr std::int64_t messageBytes[] = {1 << 20, 4 << 20};

  /// `team` and `device` outlive this object. Errors: peerLost.
  static Result<std::unique_ptr<Overlap>> open(Transport &transport, Team &team, Device &device);

  /// Until the median of the computation's factor is stable or `until`, by the team's clock.
  /// Interference::messages is not measured here. All ranks find the same.
  Result<Interference> measure(double until);

private:
  static constexpr std::size_t kinds = std::size(messageBytes);
  static constexpr std::int64_t bufferBytes = 64 << 20; ///< more than caches hold
  struct Carried;
  struct Row;
  /// Beside each other, on the slowest rank.
  struct Both {
    double computing = 0; ///< seconds of the computation
    double message = 0;   ///< seconds of one message
    int messages = 0;     ///< that passed while every rank computed; 0: `message` says nothing
  };

  Overlap(Team &team, Device &device, std::unique_ptr<AllReduce> channel)
      : team(team), device(device), channel(std::move(channel)),
        buffer(bufferBytes / sizeof(float)) {}
  Status choose(double until);
  Result<double> compute();
  Result<double> computeAlone();
  Result<bool> carry(std::int64_t bytes, bool isThrough);
  Result<Both> computeBeside(std::int64_t bytes);
  Result<double> messagesAlone(std::int64_t bytes, int count);
  Result<double> round(Row &row);

  Team &team;
  Device &device;
  const std::unique_ptr<AllReduce> channel;
  std::vector<float> buffer;
  std::size_t next = 0; ///< where the next message lies in it
  int passes = 1;       ///< of all kernels of the device, in one sample
};

} // namespace syncline::calibrate
